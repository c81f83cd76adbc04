/** How long to wait before trying again: longer each time, up to a cap, and never all clients at the same moment. */
import type { Random } from "@quorate/raft";

export interface BackoffOptions {
  readonly firstMs: number;
  readonly factor: number;
  readonly capMs: number;
}

/** A random part, from half to the whole, of the delay before try number `tries` (from 0). */
export function backoffMs(random: Random, options: BackoffOptions, tries: number): number {
  const fullMs = Math.min(options.capMs, options.firstMs * options.factor ** Math.min(tries, 64));
  return fullMs * (0.5 + random.uint32() / 2 ** 33);
}

/** In place; the order decides only which node is asked first. */
export function shuffle<T>(random: Random, items: T[]): T[] {
  for (let at = items.length - 1; at > 0; at -= 1) {
    const other = random.uint32() % (at + 1);
    const item = items[at] as T;
    items[at] = items[other] as T;
    items[other] = item;
  }
  return items;
}
