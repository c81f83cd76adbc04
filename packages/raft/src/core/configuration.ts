/**
 * A configuration as bytes: what an entry of kind `configuration` and the record of birth hold.
 *
 * JSON in ASCII, one byte a character, so that no text codec is needed here. What is read back is checked
 * field by field: a configuration that is not understood must never be taken for another.
 */
import { type Configuration, isMemberId, type Member, type MemberId } from "./types.ts";

const maxAddressLength = 512;

export function encodeConfiguration(configuration: Configuration): Uint8Array {
  const voters = configuration.voters.map(({ id, address }) => ({ id, address }));
  const text = JSON.stringify({ voters }).replace(/[^ -~]/g, escapeUnit);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Undefined when the bytes are not a configuration. */
export function decodeConfiguration(bytes: Uint8Array): Configuration | undefined {
  let text = "";
  for (const byte of bytes) {
    if (byte > 0x7e) return undefined;
    text += String.fromCharCode(byte);
  }
  const value = parse(text);
  if (!isRecord(value) || Object.keys(value).length !== 1) return undefined;
  const list = value.voters;
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const voters: Member[] = [];
  const seen = new Set<MemberId>();
  for (const item of list as readonly unknown[]) {
    const member = asMember(item);
    if (member === undefined || seen.has(member.id)) return undefined;
    seen.add(member.id);
    voters.push(member);
  }
  return { voters };
}

function asMember(value: unknown): Member | undefined {
  if (!isRecord(value) || Object.keys(value).length !== 2) return undefined;
  const id = value.id;
  const address = value.address;
  if (typeof id !== "string" || !isMemberId(id)) return undefined;
  if (typeof address !== "string" || address.length > maxAddressLength) return undefined;
  return { id, address };
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

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
