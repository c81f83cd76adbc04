/**
 * What clients do, as plain data: nothing random is decided when one is performed, so that a run can be written out,
 * replayed and made smaller operation by operation.
 *
 * `write` and `read` are of the bare node (layer `raft`), `command` and `read` of one with a machine of the user's, the
 * others of the whole store: `put`, `get` and `leave` of clients that write keys, `LeaseOperation` of those that hold
 * leases, with what befalls these. Whoever is not there when an operation comes up is passed over: that happens once a
 * schedule is changed.
 */
export type ClientOperation =
  | { readonly kind: "write"; readonly node: string; readonly timeoutMs: number }
  | { readonly kind: "read"; readonly node: string; readonly timeoutMs: number }
  /** To whom `client`, 0 to 2, takes for the leader. `command` is plain data, unless the machine encodes it. */
  | {
      readonly kind: "command";
      readonly client: number;
      readonly command: unknown;
      readonly timeoutMs: number;
    }
  /** `client` is a place, 0 to 2: who left it is followed by another. `conditional`: on the revision last seen. */
  | { readonly kind: "put"; readonly client: number; readonly key: string; readonly conditional: boolean }
  | { readonly kind: "get"; readonly client: number; readonly key: string }
  /** Not `polite`: its process is killed; `silent`: nobody hears of that. */
  | { readonly kind: "leave"; readonly client: number; readonly polite: boolean; readonly silent: boolean }
  | LeaseOperation;

/** How a client with leases loses what it sends, what it is sent, or both. */
export const cutDirections = ["requests", "replies", "both"] as const;

/** `client` is a place, 0 to 2, of those with leases. Times are in milliseconds. */
export type LeaseOperation =
  /** Waits for `patienceMs` at most (0: not at all), holds for `holdMs`. `ttlMs` 0: in the client's own session. */
  | {
      readonly kind: "acquire";
      readonly client: number;
      readonly names: readonly string[];
      readonly patienceMs: number;
      readonly holdMs: number;
      readonly ttlMs: number;
      readonly priority: number;
      readonly lockDelayMs: number;
    }
  /** A write under the lease that the client was given last, be it lost or not. */
  | { readonly kind: "fencedPut"; readonly client: number }
  | {
      readonly kind: "breakLease";
      readonly client: number;
      readonly name: string;
      readonly afterMs: number;
      readonly force: boolean;
    }
  | { readonly kind: "requestHandover"; readonly client: number; readonly name: string }
  | {
      readonly kind: "leaseLeave";
      readonly client: number;
      readonly polite: boolean;
      readonly silent: boolean;
    }
  | {
      readonly kind: "leaseStall";
      readonly client: number;
      readonly suspended: boolean;
      readonly timersFirst: boolean;
      readonly forMs: number;
    }
  | {
      readonly kind: "leaseCut";
      readonly client: number;
      readonly lost: (typeof cutDirections)[number];
      readonly forMs: number;
    }
  | { readonly kind: "leaseClock"; readonly client: number; readonly rate: number; readonly forMs: number };

export function isOfLeases(operation: ClientOperation): operation is LeaseOperation {
  switch (operation.kind) {
    case "write":
    case "read":
    case "command":
    case "put":
    case "get":
    case "leave":
      return false;
    default:
      return true;
  }
}

/** An operation and when it begins, in virtual milliseconds from the start. */
export interface ScheduledOperation {
  readonly atMs: number;
  readonly operation: ClientOperation;
}
