import { OneATurn } from "./one-a-turn.ts";

/**
 * Turns of this thread's event loop for work that no caller is in a hurry for: pieces of searches, and answers of nodes that bring
 * accounts. Shared, since pieces of several kinds in one turn make it as long as several of one kind.
 */
export const background = new OneATurn();
