/**
 * The two small stores below the log store. The simulator implements them with disks that misbehave; LevelDB and a
 * plain file implement them for real.
 */

export type BatchOperation =
  | { readonly kind: "put"; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly kind: "delete"; readonly key: Uint8Array };

/**
 * Ordered keys and values. A batch is atomic and durable when `write` resolves, and batches are durable in order.
 *
 * What it does not promise: a damaged store may have lost **any** batches in silence when it is opened again, not only
 * the last ones, and may return a wrong value without an error. Whoever reads it verifies.
 */
export interface BatchStore {
  /**
   * Takes the operations one after the other, once; of a large batch in portions, with turns of the process between.
   * Their bytes are its own business from then on: nobody changes them. Rejects where an operation cannot be had.
   *
   * Rejects for ever after the first failure: the failed batch may be there after the next opening.
   */
  write(operations: Iterable<BatchOperation>): Promise<void>;
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  /** The pairs with `from` ≤ key < `to` in byte order; stops after `limit` pairs. */
  range(
    from: Uint8Array,
    to: Uint8Array,
    limit: number,
  ): Promise<readonly (readonly [Uint8Array, Uint8Array])[]>;
  close(): Promise<void>;
}

/** Two blocks of 4,096 bytes that are written alternately, so that a torn write never hits the newest good one. */
export interface SlotFile {
  /** The content of both slots as they are on disk, or undefined where the file does not exist. */
  read(): Promise<readonly [Uint8Array, Uint8Array] | undefined>;
  /** Overwrites one slot and syncs. `content` is at most 4,096 bytes; the rest of the slot is zeros. */
  write(slot: 0 | 1, content: Uint8Array): Promise<void>;
  close(): Promise<void>;
}
