/**
 * A crowd of sessions that end, in portions that are one entry each. What an entry costs each node is what goes with
 * its sessions, so a portion is bounded by that too: it has one session at least, whose bounds are the store's.
 */
import type { SessionState } from "../machine/index.ts";

/** Keys and leases that go in one entry, where it has more than one session. */
export const maxEndedAtOnce = 2_048;

/** What goes with it. */
export function weightOf(session: SessionState | undefined): number {
  return session === undefined ? 0 : session.keys.size + session.acquisitions.size;
}

/** In their order, each of `most` at most. */
export function portionsOf<Item>(
  items: readonly Item[],
  most: number,
  weightOf: (item: Item) => number,
): Item[][] {
  const portions: Item[][] = [];
  let portion: Item[] = [];
  let weight = 0;
  for (const item of items) {
    const more = weightOf(item);
    if (portion.length >= most || (portion.length > 0 && weight + more > maxEndedAtOnce)) {
      portions.push(portion);
      portion = [];
      weight = 0;
    }
    portion.push(item);
    weight += more;
  }
  if (portion.length > 0) portions.push(portion);
  return portions;
}
