import { OneATurn } from "./one-a-turn.ts";

/**
 * Turns of this thread's event loop for work that can wait: pieces of searches, and answers of nodes that bring accounts. One queue
 * for all kinds, because two pieces make a turn long whatever their kinds.
 */
export const background = new OneATurn();
