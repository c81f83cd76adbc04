/**
 * One node by itself: its own status, its own applied data, its own answers, whoever leads. Speaks the client protocol
 * over a bare WebSocket, so that no client's routing and retrying stands between the test and the node.
 */
import { crc32 } from "node:zlib";
import {
  decodeUtf8,
  encodeProposal,
  encodeUtf8,
  type KeyRange,
  keyAfter,
  prefixRange,
  type ReportedStatus,
  type RequestBody,
  type ResponseBody,
  requestsToWire,
  responsesFromWire,
  type StoredPair,
} from "@quorate/client/protocol";
import { Packr } from "msgpackr";
import { WebSocket } from "ws";
import type { FoundPair } from "./history.ts";
import { within } from "./waiting.ts";

export type NodeView = ReportedStatus;

const packr = new Packr({ useRecords: false });
const defaultAnswerMs = 2_000;
/** A page may be large, and the machine busy. */
const pageAnswerMs = 20_000;

export class NodeSpeaker {
  readonly #address: string;
  readonly #pending = new Map<number, (body: ResponseBody) => void>();
  #socket: WebSocket | undefined;
  #nextId = 1;

  constructor(address: string) {
    this.#address = address;
  }

  /** Undefined where the node does not answer, such as one that is down or frozen. */
  async view(): Promise<NodeView | undefined> {
    try {
      const body = await this.ask({ kind: "status" });
      return body.kind === "status" ? body.status : undefined;
    } catch {
      return undefined;
    }
  }

  /** Everything below `prefix`, which is ASCII, that the node has applied. */
  async readAll(prefix: string): Promise<Map<string, FoundPair>> {
    const found = new Map<string, FoundPair>();
    let range: KeyRange = prefixRange(prefix);
    for (;;) {
      const body = await this.ask(
        { kind: "list", range, limit: 10_000, reverse: false, keysOnly: false, consistency: "local" },
        pageAnswerMs,
      );
      if (body.kind !== "listed") throw new Error(`${this.#address} answered ${JSON.stringify(body)}`);
      for (const pair of body.pairs) found.set(pair.key, asFound(pair));
      const last = body.pairs.at(-1);
      if (!body.more || last === undefined) return found;
      range = { from: keyAfter(last.key), to: range.to };
    }
  }

  close(): void {
    this.#socket?.terminate();
    this.#socket = undefined;
  }

  /** A write without a session, exactly as it arrives: never sent twice. */
  put(key: string, value: string, answerMs?: number): Promise<ResponseBody> {
    const proposal = encodeProposal({
      origin: { kind: "anonymous" },
      command: {
        kind: "put",
        key,
        value: encodeUtf8(value) ?? new Uint8Array(),
        format: "text",
        condition: { kind: "none" },
      },
    });
    return this.ask({ kind: "execute", proposal }, answerMs);
  }

  /** A linearizable read. */
  get(key: string, answerMs?: number): Promise<ResponseBody> {
    return this.ask({ kind: "get", key, consistency: "linearizable" }, answerMs);
  }

  /** Rejects where no answer comes in time. */
  async ask(body: RequestBody, answerMs: number = defaultAnswerMs): Promise<ResponseBody> {
    const socket = await within(`a connection to ${this.#address}`, this.#connected(), answerMs);
    const id = this.#nextId++;
    const answer = new Promise<ResponseBody>((resolve) => this.#pending.set(id, resolve));
    socket.send(sealed(packr.pack(requestsToWire([{ id, timeoutMs: answerMs, body }]))));
    try {
      return await within(`an answer of ${this.#address}`, answer, answerMs);
    } finally {
      this.#pending.delete(id);
    }
  }

  #connected(): Promise<WebSocket> {
    const open = this.#socket;
    if (open?.readyState === WebSocket.OPEN) return Promise.resolve(open);
    open?.terminate();
    const headers = { "x-quorate-role": "client", "x-quorate-protocol": "1-1" };
    const socket = new WebSocket(this.#address, {
      headers,
      perMessageDeflate: false,
      handshakeTimeout: defaultAnswerMs,
    });
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      for (const { id, body } of responsesFromWire(packr.unpack(data.subarray(4))) ?? [])
        this.#pending.get(id)?.(body);
    });
    return new Promise((resolve, reject) => {
      socket.once("open", () => resolve(socket));
      socket.on("error", reject);
      socket.on("close", () => reject(new Error(`${this.#address} closed the connection`)));
    });
  }
}

/** With its checksum in front, as every frame is. */
export function sealed(frame: Uint8Array): Buffer {
  const bytes = Buffer.alloc(4 + frame.length);
  bytes.writeUInt32BE(crc32(frame), 0);
  bytes.set(frame, 4);
  return bytes;
}

function asFound(pair: StoredPair): FoundPair {
  return { value: decodeUtf8(pair.value), modRevision: pair.modRevision, version: pair.version };
}
