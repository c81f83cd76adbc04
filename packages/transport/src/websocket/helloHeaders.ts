/**
 * Hellos and refusals as HTTP headers: `x-quorate-` and the field's name, in the request that asks for the
 * upgrade and in the answer to it. So both sides know each other before the first frame, and before any
 * parser of frames.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Hello, Refusal } from "@quorate/raft";
import { asText, isText } from "../codec/fields.ts";
import { maxReasonLength } from "../limits.ts";

const prefix = "x-quorate-";
/** Headers with the prefix that are no fields of a hello: proofs and refusals. */
const reserved = "x-quorate--";

export const challengeHeader: string = `${reserved}challenge`;
export const nonceHeader: string = `${reserved}nonce`;
export const proofHeader: string = `${reserved}proof`;
export const refusalHeader: string = `${reserved}refusal`;

export function helloToHeaders(hello: Hello): Record<string, string> {
  return Object.fromEntries(Object.entries(hello).map(([name, value]) => [prefix + name, value]));
}

/** Every field that stands in the headers once. Its shape is for `helloFault` to judge. */
export function headersToHello(headers: IncomingHttpHeaders): Hello {
  const hello: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(prefix) || name.startsWith(reserved) || typeof value !== "string") continue;
    hello[name.slice(prefix.length)] = value;
  }
  return hello;
}

export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** The refusal that an HTTP answer carries, or undefined if it is not of Quorate. */
export function readRefusal(headers: IncomingHttpHeaders, body: string): Refusal | undefined {
  const code = headerOf(headers, refusalHeader);
  if (code === undefined || !isText(code, 64)) return undefined;
  return { kind: "refuse", code, reason: asText(body.trim(), maxReasonLength) };
}
