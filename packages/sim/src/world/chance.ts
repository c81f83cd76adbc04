/**
 * Seeded chance: a small generator of our own (sfc32), and independent streams drawn from one seed.
 *
 * A stream is made from the seed and a name, so that one more draw in one part of the simulation moves nothing in
 * another. Only integer arithmetic and + − × ÷ are used: the same seed gives the same run on every machine.
 */
import type { Random } from "@quorate/raft";
import { mixNumber, mixText } from "./mix.ts";

export interface Chance extends Random {
  /** In [0, 1), a multiple of 2^-32. */
  fraction(): number;
  /** An integer in [0, count). */
  below(count: number): number;
  /** An integer in [from, to]. */
  between(from: number, to: number): number;
  happens(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** A new array. */
  shuffled<T>(list: readonly T[]): T[];
  /** Exponentially distributed with this mean, cut at 20 times the mean. */
  exponential(mean: number): number;
}

/** Natural logarithm of `value` in (0, 1], by halving and a series: Math.log may differ between engines. */
function naturalLog(value: number): number {
  let mantissa = value;
  let halvings = 0;
  while (mantissa < 0.5) {
    mantissa *= 2;
    halvings += 1;
  }
  const z = (mantissa - 1) / (mantissa + 1);
  const square = z * z;
  let term = z;
  let sum = 0;
  for (let divisor = 1; divisor < 20; divisor += 2) {
    sum += term / divisor;
    term *= square;
  }
  return 2 * sum - halvings * Math.LN2;
}

export function chanceFrom(seed: number, stream: string): Chance {
  let a = mixNumber(mixText(0x811c9dc5, stream), seed);
  let b = mixNumber(a, seed + 1);
  let c = mixNumber(b, seed + 2);
  let counter = 1;
  const uint32 = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
  for (let warmUp = 0; warmUp < 12; warmUp += 1) uint32();
  const fraction = (): number => uint32() / 0x1_0000_0000;
  const below = (count: number): number => Math.floor(fraction() * count);
  return {
    uint32,
    fraction,
    below,
    between: (from, to) => from + below(to - from + 1),
    happens: (probability) => fraction() < probability,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    shuffled: <T>(list: readonly T[]): T[] => {
      const copy = [...list];
      for (let last = copy.length - 1; last > 0; last -= 1) {
        const other = below(last + 1);
        const kept = copy[last] as T;
        copy[last] = copy[other] as T;
        copy[other] = kept;
      }
      return copy;
    },
    exponential: (mean) => Math.min(20 * mean, -mean * naturalLog(1 - fraction())),
  };
}
