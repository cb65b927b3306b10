/** What a process holds right after a full collection. */
export interface HeldMemory {
  /** Objects, and the buffers beside the heap. */
  readonly liveBytes: number;
  /** All that the system has given it. */
  readonly residentBytes: number;
}
