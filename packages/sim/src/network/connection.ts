/**
 * One simulated connection: two channel ends, and what happens to the frames between them.
 *
 * Between a client and a node it is like TCP: frames in order, each once. Between nodes it may be worse than TCP, a
 * datagram path that loses, repeats and reorders, since Raft must stand that. A received buffer is scribbled over
 * after its handler returned, so that code which keeps an alias to it is found out.
 */
import type { Channel, ChannelHandlers, CloseCause } from "@quorate/raft";
import type { SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Trace } from "../world/trace.ts";
import type { Paths } from "./paths.ts";

export interface Wire {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly paths: Paths;
}

type Parcel =
  | { readonly kind: "frame"; readonly bytes: Uint8Array }
  | { readonly kind: "end"; readonly cause: CloseCause; readonly reason: string };

/** Bytes that a receiver finds where a frame was, once its handler has returned. */
const scribble = 0xa5;

export class ChannelEnd implements Channel {
  readonly process: SimulatedProcess;
  readonly host: string;
  /** Nothing is sent or taken any more. */
  isClosed = false;
  /** Set when the connection is made. */
  peer!: ChannelEnd;
  /** The listener that this end was accepted by; undefined on the dialling side. */
  acceptedBy: unknown;
  private readonly wire: Wire;
  private readonly isDatagram: boolean;
  private handlers: ChannelHandlers | undefined;
  private waiting: Parcel[] = [];
  /** Sent into a cut path and kept there, as TCP does. */
  private stuck: Parcel[] = [];
  private stuckBytes = 0;
  private lastArrivalMs = 0;
  private isClosedHere = false;
  private hasEnded = false;

  constructor(wire: Wire, process: SimulatedProcess, host: string, isDatagram: boolean) {
    this.wire = wire;
    this.process = process;
    this.host = host;
    this.isDatagram = isDatagram;
  }

  get bufferedBytes(): number {
    return this.stuckBytes;
  }

  get hasStuck(): boolean {
    return this.stuck.length > 0;
  }

  open(handlers: ChannelHandlers): void {
    if (this.handlers !== undefined) throw new Error("a channel is opened once");
    this.handlers = handlers;
    const { waiting } = this;
    this.waiting = [];
    for (const parcel of waiting) this.soon(parcel);
  }

  send(frame: Uint8Array): void {
    if (this.isClosed || !this.process.isAlive) return;
    if (frame.length === 0) throw new Error("an empty frame was sent");
    this.post({ kind: "frame", bytes: frame });
  }

  close(reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.isClosedHere = true;
    this.soon({ kind: "end", cause: "local", reason });
    this.post({ kind: "end", cause: "remote", reason });
  }

  /** The process behind this end died. `isSilent`: so did its machine, and nothing tells the other side. */
  die(isSilent: boolean): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (!isSilent) this.post({ kind: "end", cause: "remote", reason: "the process ended" });
  }

  /** Breaks this end, without a word to the other one. `cause`: a reset (RST) came, or nothing did for too long. */
  break(cause: "remote" | "failed", reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.soon({ kind: "end", cause, reason });
  }

  /** The path to the peer was healed. */
  healed(): void {
    const { stuck } = this;
    this.stuck = [];
    this.stuckBytes = 0;
    switch (this.wire.paths.temper.healMode) {
      case "keep":
        for (const parcel of stuck) this.post(parcel);
        return;
      case "drop":
        for (const parcel of stuck) if (parcel.kind === "end") this.post(parcel);
        return;
      case "reset":
        this.break("remote", "the connection was reset");
        this.peer.break("remote", "the connection was reset");
    }
  }

  private post(parcel: Parcel): void {
    const { paths, trace } = this.wire;
    const to = this.peer;
    if (paths.isCut(this.host, to.host)) {
      this.stick(parcel);
      return;
    }
    if (parcel.kind === "end" || !this.isDatagram) {
      this.arrive(parcel, paths.delayMs(), false);
      return;
    }
    const fate = paths.fate(this.host, to.host);
    if (fate.kind === "lost") {
      trace.note(this.host, `frame to ${to.host} lost`);
      return;
    }
    for (const delayMs of fate.delaysMs) {
      this.arrive(parcel, delayMs, fate.delaysMs.length > 1 || paths.overtakes());
    }
    if (fate.delaysMs.length > 1) trace.note(this.host, `frame to ${to.host} repeated`);
  }

  private stick(parcel: Parcel): void {
    this.stuck.push(parcel);
    if (parcel.kind === "frame") this.stuckBytes += parcel.bytes.length;
  }

  private arrive(parcel: Parcel, delayMs: number, overtakes: boolean): void {
    const { timeline, paths } = this.wire;
    let atMs = timeline.nowMs + delayMs;
    if (!overtakes) {
      atMs = Math.max(atMs, this.lastArrivalMs);
      this.lastArrivalMs = atMs;
    }
    const to = this.peer;
    timeline.schedule(atMs - timeline.nowMs, to.process, () => {
      // What was on its way when the path was cut has not passed it.
      if (paths.isCut(this.host, to.host)) this.stick(parcel);
      else to.receive(parcel);
    });
  }

  private soon(parcel: Parcel): void {
    this.wire.timeline.schedule(0, this.process, () => this.deliver(parcel));
  }

  private receive(parcel: Parcel): void {
    if (this.isClosed) return;
    if (parcel.kind === "end") this.isClosed = true;
    this.deliver(parcel);
  }

  private deliver(parcel: Parcel): void {
    if (this.hasEnded) return;
    if (this.handlers === undefined) {
      this.waiting.push(parcel);
      return;
    }
    if (parcel.kind === "end") {
      this.hasEnded = true;
      this.handlers.closed(parcel.cause, parcel.reason);
      return;
    }
    if (this.isClosedHere) return;
    const bytes = new Uint8Array(parcel.bytes);
    this.wire.trace.absorb(bytes);
    this.handlers.frame(bytes);
    bytes.fill(scribble);
  }
}
