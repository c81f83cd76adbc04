/** The bounds of what clients may take of a node. Each has an error of its own when it is hit. */

export interface ServerLimits {
  /** Client connections at once. */
  readonly maxConnections: number;
  /** Requests under way, on one connection and on all. */
  readonly maxRequestsPerConnection: number;
  readonly maxRequests: number;
  /** Requests of one connection that wait for something to change. */
  readonly maxWaitsPerConnection: number;
  /** Answers not taken by the network yet: above the first, reads are refused; above the second, the client is. */
  readonly busyBytes: number;
  readonly maxBufferedBytes: number;
  /** How long a client may leave its answers unread above `busyBytes`. */
  readonly maxStalledMs: number;
  /** Sessions in one entry that ends them, marks their silence or renews them. */
  readonly maxExpiriesAtOnce: number;
  /** Such entries that are not applied yet: what a write may have to wait for, on each node. */
  readonly maxExpiriesUnderWay: number;
  /** Open watches, on one connection and on all. */
  readonly maxWatchesPerConnection: number;
  readonly maxWatches: number;
  /** Bytes of answers that wait to be sent, above which watches of that connection wait. */
  readonly watchBusyBytes: number;
}

export const defaultServerLimits: ServerLimits = Object.freeze({
  maxConnections: 4_096,
  maxRequestsPerConnection: 8_192,
  maxRequests: 32_768,
  maxWaitsPerConnection: 32_768,
  busyBytes: 16 * 1024 * 1024,
  maxBufferedBytes: 64 * 1024 * 1024,
  maxStalledMs: 10_000,
  maxExpiriesAtOnce: 256,
  maxExpiriesUnderWay: 2,
  maxWatchesPerConnection: 65_536,
  maxWatches: 131_072,
  watchBusyBytes: 4 * 1024 * 1024,
});
