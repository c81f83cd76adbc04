/**
 * Rolling hashes of 32 bits, for traces and for telling contents apart: each function mixes one value into a hash.
 *
 * They are fast and the same on every machine. They withstand chance, not malice. Hashes are signed: of these the
 * engine makes no object, as it does of half of the unsigned ones.
 */

/** FNV-1a over UTF-16 code units. */
export function mixText(hash: number, text: string): number {
  let mixed = hash;
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  return mixed | 0;
}

export function mixNumber(hash: number, value: number): number {
  const whole = value | 0;
  const low = Math.imul(hash ^ whole, 0x85ebca6b);
  const above = value === whole ? 0 : (value / 0x1_0000_0000) | 0;
  const high = Math.imul(low ^ (low >>> 13) ^ above, 0xc2b2ae35);
  return high ^ (high >>> 16);
}

export function mixBytes(hash: number, bytes: Uint8Array): number {
  let mixed = hash ^ bytes.length;
  for (let at = 0; at < bytes.length; at += 1) mixed = Math.imul(mixed ^ (bytes[at] as number), 0x01000193);
  return mixed | 0;
}

const remembered = new Map<string, number>();
const maxRemembered = 4_096;

/** For names, which are few and come again and again: of each the hash is taken once. */
export function mixName(hash: number, name: string): number {
  let own = remembered.get(name);
  if (own === undefined) {
    own = mixText(0x811c9dc5, name);
    if (remembered.size < maxRemembered && name.length <= 64) remembered.set(name, own);
  }
  return mixNumber(hash, own);
}

/** Plain data, by structure. */
export function mixValue(hash: number, value: unknown): number {
  switch (typeof value) {
    case "string":
      return mixName(mixNumber(hash, 1), value);
    case "number":
      return mixNumber(mixNumber(hash, 2), value * 8);
    case "boolean":
      return mixNumber(hash, value ? 3 : 4);
    case "object":
      break;
    default:
      return mixNumber(hash, 5);
  }
  if (value === null) return mixNumber(hash, 6);
  if (ArrayBuffer.isView(value) && value instanceof Uint8Array) return mixBytes(mixNumber(hash, 7), value);
  let mixed = mixNumber(hash, 8);
  if (Array.isArray(value)) {
    for (const item of value) mixed = mixValue(mixed, item);
    return mixed;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const key in fields) mixed = mixValue(mixName(mixed, key), fields[key]);
  return mixed;
}
