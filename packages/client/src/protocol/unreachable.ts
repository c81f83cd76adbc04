/** The end of a `switch` over a union, for the pure layers of client and store, which import nothing from Raft. */

/** The compiler proves that this is never reached. */
export function unreachable(value: never): never {
  throw new Error(`Broken invariant: every member of the union is handled ${JSON.stringify(value)}`);
}
