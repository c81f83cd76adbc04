/**
 * The real chance: the operating system's generator, drawn in blocks.
 *
 * Identities and seeds come from here, so it is never a generator that could repeat itself after a restart.
 */
import { randomFillSync } from "node:crypto";
import type { Random } from "../ports/random.ts";

export function systemRandom(): Random {
  const block = new Uint32Array(64);
  let next = block.length;
  return {
    uint32(): number {
      if (next === block.length) {
        randomFillSync(block);
        next = 0;
      }
      const value = block[next] as number;
      next += 1;
      return value;
    },
  };
}
