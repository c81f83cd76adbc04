/**
 * What clients do, as plain data: nothing random is decided when one is performed, so that a run can be written out,
 * replayed and made smaller operation by operation.
 *
 * `write` and `read` are of the bare node (layer `raft`), `command` and `read` of one with a machine of the user's, the
 * others of the whole store. Whoever is not there when an operation comes up is passed over: that happens once a
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
  | { readonly kind: "leave"; readonly client: number; readonly polite: boolean; readonly silent: boolean };

/** An operation and when it begins, in virtual milliseconds from the start. */
export interface ScheduledOperation {
  readonly atMs: number;
  readonly operation: ClientOperation;
}
