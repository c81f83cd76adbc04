/**
 * The HTTP answers of a port that speaks WebSocket: refusals of an upgrade, and sentences for everyone else.
 */
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Refusal } from "@quorate/raft";
import { asText } from "../codec/fields.ts";
import { maxReasonLength } from "../limits.ts";
import { refusalHeader } from "./helloHeaders.ts";

/** Writes a whole answer to a socket that no HTTP parser serves any more, and ends it. */
export function answerAndEnd(
  socket: Duplex,
  status: number,
  sentence: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = `${asText(sentence, maxReasonLength)}\n`;
  const head = Object.entries({
    connection: "close",
    "content-type": "text/plain; charset=utf-8",
    "content-length": String(body.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  // The other side may have gone: that is its affair.
  socket.on("error", () => socket.destroy());
  socket.once("finish", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join("")}\r\n${body}`);
}

/** A refusal that `readRefusal` of the other side understands. */
export function refuse(socket: Duplex, status: number, refusal: Refusal): void {
  answerAndEnd(socket, status, refusal.reason, { [refusalHeader]: asText(refusal.code, 64) });
}
