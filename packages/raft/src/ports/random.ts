/** Chance. The core never draws from it: it only seeds the core's own generator and makes identities. */

export interface Random {
  /** A uniformly drawn integer in [0, 2^32). */
  uint32(): number;
}

/** `digits` hexadecimal digits. */
export function randomHex(random: Random, digits: number): string {
  let text = "";
  while (text.length < digits) text += random.uint32().toString(16).padStart(8, "0");
  return text.slice(0, digits);
}
