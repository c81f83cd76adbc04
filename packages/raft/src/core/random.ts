/**
 * A small seeded generator (sfc32, public domain by Chris Doty-Humphrey) whose state is plain data.
 *
 * The state is part of `RaftState`, so that a run is repeated by its seed. It spreads timeouts; it is no
 * secret and must never be used for one.
 */
export interface RandomState {
  a: number;
  b: number;
  c: number;
  counter: number;
}

/** `salt` keeps members apart that were given the same seed: equal timeouts would split every vote. */
export function createRandom(seed: number, salt: string): RandomState {
  const random: RandomState = { a: hash(salt), b: 0x9e3779b9, c: seed | 0, counter: 1 };
  for (let round = 0; round < 12; round += 1) nextUint32(random);
  return random;
}

export function nextUint32(random: RandomState): number {
  const result = (((random.a + random.b) | 0) + random.counter) | 0;
  random.counter = (random.counter + 1) | 0;
  random.a = random.b ^ (random.b >>> 9);
  random.b = (random.c + (random.c << 3)) | 0;
  random.c = ((random.c << 21) | (random.c >>> 11)) + result;
  random.c |= 0;
  return result >>> 0;
}

/** A number in [min, max); `min` when the range is empty. */
export function nextBetween(random: RandomState, min: number, max: number): number {
  return min + Math.floor((nextUint32(random) / 4294967296) * (max - min));
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value;
}
