/**
 * How many of Meteora DLMM's presets under which pairs are probed: their addresses follow from an index, counted from 0. The
 * number on the chain is not published; a preset that does not exist only costs one address in a read.
 */
export const DLMM_PRESET_COUNT = 64;

/** Seed of pairs launched with their own parameters. @see @meteora-ag/dlmm 1.9.14 `constants`, ILM_BASE */
export const DLMM_LAUNCH_BASE = "MFGQxwAmB91SwuYX36okv2Qmdc9aMuHTwWGUrp4AtB1";
