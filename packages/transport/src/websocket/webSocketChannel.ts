/**
 * A channel over one WebSocket. Frames are handed over at once, in both directions, and never kept.
 *
 * It is paused until its owner opens it, so that nothing is delivered to nobody. Why it ended is told from
 * what happened first: our close, the other side's FIN or RST, or a failure.
 */
import type { Socket } from "node:net";
import type { Channel, ChannelHandlers, CloseCause } from "@quorate/raft";
import type { RawData, WebSocket } from "ws";
import { asText } from "../codec/fields.ts";
import type { Liveness, Living } from "./liveness.ts";
import { seal, unseal } from "./sealedFrame.ts";

/** WebSocket codes for a close (RFC 6455 §7.4.1). */
const normalClosure = 1_000;
const protocolError = 1_002;
const unsupportedData = 1_003;

const maxCloseReasonBytes = 120;

/** Socket errors that say that the other side, or its machine, ended the connection. */
const remoteErrors: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

interface End {
  readonly cause: CloseCause;
  readonly reason: string;
}

export class WebSocketChannel implements Channel, Living {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  #handlers: ChannelHandlers | undefined;
  /** Known as soon as something begins the end; told once the WebSocket has closed. */
  #end: End | undefined;
  #isClosed = false;

  /** `webSocket` has just opened. `ended` is called once, when it has closed. */
  constructor(webSocket: WebSocket, socket: Socket, liveness: Liveness, ended: () => void = () => {}) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    webSocket.pause();
    webSocket.on("message", (data, isBinary) => this.#received(data, isBinary));
    webSocket.on("error", (error) => this.#begin({ cause: "failed", reason: error.message }));
    webSocket.on("close", (code, reason) => {
      liveness.forget(this);
      this.#begin({ cause: "remote", reason: reason.toString() || `closed with code ${code}` });
      this.#isClosed = true;
      ended();
      this.#tellEnd();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      const cause = remoteErrors.has(error.code ?? "") ? "remote" : "failed";
      this.#begin({ cause, reason: error.message });
    });
    liveness.watch(this);
  }

  open(handlers: ChannelHandlers): void {
    this.#handlers = handlers;
    if (this.#isClosed) queueMicrotask(() => this.#tellEnd());
    else this.#webSocket.resume();
  }

  send(frame: Uint8Array): void {
    if (this.#end === undefined) this.#webSocket.send(seal(frame));
  }

  get bufferedBytes(): number {
    return this.#webSocket.bufferedAmount;
  }

  close(reason: string): void {
    this.#finish({ cause: "local", reason }, normalClosure);
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  ping(): void {
    if (this.#end === undefined) this.#webSocket.ping();
  }

  giveUp(): void {
    this.#begin({ cause: "failed", reason: "the other side went silent" });
    this.#webSocket.terminate();
  }

  #received(data: RawData, isBinary: boolean): void {
    if (this.#end !== undefined) return;
    if (!isBinary) {
      this.#finish({ cause: "failed", reason: "the other side sent text" }, unsupportedData);
      return;
    }
    const frame = unseal(data as Buffer);
    if (frame !== undefined) this.#handlers?.frame(frame);
    else this.#finish({ cause: "failed", reason: "a frame was damaged on its way here" }, protocolError);
  }

  #finish(end: End, code: number): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#webSocket.close(code, asText(end.reason, maxCloseReasonBytes));
    this.#webSocket.resume(); // the other side's goodbye must be read, also where nobody opened
  }

  #begin(end: End): void {
    this.#end ??= end;
  }

  #tellEnd(): void {
    const handlers = this.#handlers;
    if (handlers === undefined || this.#end === undefined || !this.#isClosed) return;
    this.#handlers = undefined;
    handlers.closed(this.#end.cause, this.#end.reason);
  }
}
