/**
 * One simulated connection: two channel ends, and what happens to the frames between them.
 *
 * Between a client and a node it is like TCP: frames in order, each once. Between nodes it may be worse than TCP, a
 * datagram path that loses, repeats and reorders, since Raft must stand that. A received buffer is scribbled over
 * after its handler returned, so that code which keeps an alias to it is found out.
 */
import type { Channel, ChannelHandlers, CloseCause } from "@quorate/raft";
import { seal, unseal } from "@quorate/transport/links";
import type { SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Trace } from "../world/trace.ts";
import type { HealMode, Paths } from "./paths.ts";

export interface Wire {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly paths: Paths;
}

type Parcel =
  | { readonly kind: "frame"; readonly bytes: Uint8Array; readonly place: number }
  | { readonly kind: "end"; readonly cause: CloseCause; readonly reason: string; readonly place: number };

/** How long a frame that is to be overtaken waits for another one. */
const swapWithinMs = 20;

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
  /** Parcels posted so far; the next one's place in the stream. */
  private posted = 0;
  /** Kept back until the next frame has been sent. */
  private swapped: Parcel | undefined;
  /** Of a stream: the place of what comes next, and what has come before its turn. */
  private expected = 0;
  private readonly early = new Map<number, Parcel>();
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
    for (let left = this.waiting.length; left > 0; left -= 1) this.handOverSoon();
  }

  send(frame: Uint8Array): void {
    this.process.interacts();
    if (this.isClosed || !this.process.isAlive) return;
    if (frame.length === 0) throw new Error("an empty frame was sent");
    this.post({ kind: "frame", bytes: frame, place: this.nextPlace() });
  }

  close(reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.isClosedHere = true;
    this.endSoon("local", reason);
    this.post({ kind: "end", cause: "remote", reason, place: this.nextPlace() });
  }

  /** The process behind this end died. `isSilent`: so did its machine, and nothing tells the other side. */
  die(isSilent: boolean): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (isSilent) return;
    this.post({ kind: "end", cause: "remote", reason: "the process ended", place: this.nextPlace() });
  }

  /** Breaks this end, without a word to the other one. `cause`: a reset (RST) came, or nothing did for too long. */
  break(cause: "remote" | "failed", reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.endSoon(cause, reason);
  }

  /** The path to the peer was healed. */
  healed(): void {
    const { stuck } = this;
    this.stuck = [];
    this.stuckBytes = 0;
    switch (this.healMode(stuck)) {
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

  /** A stream does not go on with something missing. */
  private healMode(stuck: readonly Parcel[]): HealMode {
    const { healMode } = this.wire.paths.temper;
    return healMode === "drop" && !this.isDatagram && stuck.length > 0 ? "reset" : healMode;
  }

  private nextPlace(): number {
    this.posted += 1;
    return this.posted - 1;
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
    const delaysMs = paths.delaysMs(this.host, to.host);
    if (delaysMs.length === 0) {
      trace.note(this.host, `frame to ${to.host} lost`);
      return;
    }
    if (this.swapped === undefined && paths.swaps()) {
      this.keepBack(parcel);
      return;
    }
    const isRepeated = delaysMs.length > 1;
    for (const delayMs of delaysMs) this.arrive(parcel, delayMs, isRepeated || paths.overtakes());
    if (isRepeated) trace.note(this.host, `frame to ${to.host} repeated`);
    this.releaseSwapped();
  }

  /** For the next frame to overtake it; alone it goes where none comes in time. */
  private keepBack(parcel: Parcel): void {
    this.swapped = parcel;
    this.wire.timeline.schedule(swapWithinMs, undefined, () => {
      if (this.swapped === parcel) this.releaseSwapped();
    });
  }

  private releaseSwapped(): void {
    const parcel = this.swapped;
    if (parcel === undefined) return;
    this.swapped = undefined;
    this.arrive(parcel, this.wire.paths.delayMs(), false);
  }

  private stick(parcel: Parcel): void {
    this.stuck.push(parcel);
    if (parcel.kind === "frame") this.stuckBytes += parcel.bytes.length;
  }

  private arrive(parcel: Parcel, delayMs: number, overtakes: boolean): void {
    const { timeline } = this.wire;
    let atMs = timeline.nowMs + delayMs;
    if (!overtakes) {
      atMs = Math.max(atMs, this.lastArrivalMs);
      this.lastArrivalMs = atMs;
    }
    timeline.schedule(atMs - timeline.nowMs, this.peer.process, () => this.comeOut(parcel));
  }

  /** At the far end of the path. */
  private comeOut(parcel: Parcel): void {
    const { timeline, paths } = this.wire;
    const to = this.peer;
    // What was on its way when the path was cut has not passed it.
    if (paths.isCut(this.host, to.host)) this.stick(parcel);
    else if (paths.isClogged(this.host, to.host)) {
      paths.whenUnclogged(this.host, to.host, () => {
        timeline.schedule(0, to.process, () => this.comeOut(parcel));
      });
    } else to.receive(parcel);
  }

  private endSoon(cause: CloseCause, reason: string): void {
    this.wire.timeline.schedule(0, this.process, () =>
      this.deliver({ kind: "end", cause, reason, place: -1 }),
    );
  }

  private receive(parcel: Parcel): void {
    if (this.isDatagram) {
      this.take(parcel);
      return;
    }
    this.early.set(parcel.place, parcel);
    for (;;) {
      const next = this.early.get(this.expected);
      if (next === undefined) return;
      this.early.delete(this.expected);
      this.expected += 1;
      this.take(next);
    }
  }

  private take(parcel: Parcel): void {
    if (this.isClosed) return;
    if (parcel.kind === "end") this.isClosed = true;
    this.deliver(parcel);
  }

  private deliver(parcel: Parcel): void {
    if (this.hasEnded) return;
    if (this.handlers === undefined || this.waiting.length > 0) {
      this.waiting.push(parcel);
      if (this.handlers !== undefined) this.handOverSoon();
      return;
    }
    this.handOver(parcel, this.handlers);
  }

  private handOverSoon(): void {
    this.wire.timeline.schedule(0, this.process, () => {
      const parcel = this.waiting.shift();
      if (parcel !== undefined && this.handlers !== undefined) this.handOver(parcel, this.handlers);
    });
  }

  private handOver(parcel: Parcel, handlers: ChannelHandlers): void {
    if (this.hasEnded) return;
    if (parcel.kind === "end") {
      this.hasEnded = true;
      handlers.closed(parcel.cause, parcel.reason);
      return;
    }
    if (this.isClosedHere) return;
    const bytes = this.unsealed(parcel.bytes);
    if (bytes === undefined) {
      this.wire.trace.note(this.host, `a frame from ${this.peer.host} is damaged`);
      this.refuseDamaged();
      return;
    }
    this.wire.trace.absorb(bytes);
    handlers.frame(bytes);
    bytes.fill(scribble);
  }

  /** A copy of the frame, through the seal of the shipped channel where it was damaged; undefined: it shows. */
  private unsealed(frame: Uint8Array): Uint8Array | undefined {
    const damaged = this.wire.paths.damaged(() => seal(frame));
    if (damaged === undefined) return new Uint8Array(frame);
    const found = unseal(Buffer.from(damaged));
    return found === undefined ? undefined : new Uint8Array(found);
  }

  /** As the shipped channel does: what was damaged is not handed on, and its connection ends. */
  private refuseDamaged(): void {
    if (this.isClosed) return;
    const reason = "a frame was damaged on its way here";
    this.break("failed", reason);
    this.post({ kind: "end", cause: "remote", reason, place: this.nextPlace() });
  }
}
