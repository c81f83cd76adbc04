/**
 * A configuration as bytes: what an entry of kind `configuration` and the record of birth hold.
 *
 * JSON in ASCII, one byte a character, so that no text codec is needed here. Empty lists are left out. What is read
 * back is checked field by field: a configuration that is not understood must never be taken for another.
 */
import { type Configuration, isMemberId, type Learner, type Member, type MemberId } from "./types.ts";

const maxAddressLength = 512;

export function encodeConfiguration({ voters, outgoing, learners }: Configuration): Uint8Array {
  const value = {
    voters: voters.map(plainMember),
    ...(outgoing.length === 0 ? {} : { outgoing: outgoing.map(plainMember) }),
    ...(learners.length === 0 ? {} : { learners: learners.map(plainLearner) }),
  };
  const text = JSON.stringify(value).replace(/[^ -~]/g, escapeUnit);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

function plainMember({ id, address }: Member): Record<string, unknown> {
  return { id, address };
}

function plainLearner({ id, address, promotes, replaces }: Learner): Record<string, unknown> {
  return { id, address, promotes, ...(replaces === undefined ? {} : { replaces }) };
}

/** Undefined when the bytes are not a configuration. */
export function decodeConfiguration(bytes: Uint8Array): Configuration | undefined {
  let text = "";
  for (const byte of bytes) {
    if (byte > 0x7e) return undefined;
    text += String.fromCharCode(byte);
  }
  const value = parse(text);
  if (!isRecord(value) || !hasOnly(value, ["voters", "outgoing", "learners"])) return undefined;
  const voters = asList(value.voters, asMember);
  const outgoing = value.outgoing === undefined ? [] : asList(value.outgoing, asMember);
  const learners = value.learners === undefined ? [] : asList(value.learners, asLearner);
  if (voters === undefined || outgoing === undefined || learners === undefined) return undefined;
  const learnerIds = new Set(learners.map((learner) => learner.id));
  return voters.some((voter) => learnerIds.has(voter.id)) ? undefined : { voters, outgoing, learners };
}

/** Undefined for an empty list, one with a member that is not understood, or with one member twice. */
function asList<T extends Member>(
  value: unknown,
  asItem: (item: unknown) => T | undefined,
): readonly T[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const list: T[] = [];
  const seen = new Set<MemberId>();
  for (const candidate of value as readonly unknown[]) {
    const item = asItem(candidate);
    if (item === undefined || seen.has(item.id)) return undefined;
    seen.add(item.id);
    list.push(item);
  }
  return list;
}

function asMember(value: unknown): Member | undefined {
  if (!isRecord(value) || !hasOnly(value, ["id", "address"])) return undefined;
  const { id, address } = value;
  if (typeof id !== "string" || !isMemberId(id)) return undefined;
  if (typeof address !== "string" || address.length > maxAddressLength) return undefined;
  return { id, address };
}

function asLearner(value: unknown): Learner | undefined {
  if (!isRecord(value) || !hasOnly(value, ["id", "address", "promotes", "replaces"])) return undefined;
  const { id, address, promotes, replaces } = value;
  const member = asMember({ id, address });
  if (member === undefined || typeof promotes !== "boolean") return undefined;
  if (replaces === undefined) return { ...member, promotes, replaces };
  return typeof replaces === "string" && isMemberId(replaces) ? { ...member, promotes, replaces } : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // said by the caller, who knows where the bytes came from
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasOnly(value: Record<string, unknown>, keys: readonly string[]): boolean {
  return Object.keys(value).every((key) => keys.includes(key));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
