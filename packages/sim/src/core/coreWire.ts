/**
 * The network between cores: frames of messages as plain objects, which are lost, repeated, held up, overtaken and
 * replayed late, by the paths' temper (network/paths.ts).
 *
 * What is on its way outlives the processes at both of its ends, which Raft must stand. On a wire that reorders each
 * message travels by itself. A cut is silent; of connections there is only their end, which fast failover listens to.
 */
import type { Envelope, MemberId, Message } from "@quorate/raft";
import type { World } from "../world/world.ts";

/** An end of the wire; `at` is its place among all. */
export interface WireEnd {
  readonly name: string;
  readonly memberId: MemberId;
  readonly at: number;
  /** Called at the arrival; a host that is down drops it. */
  receive(from: MemberId, messages: readonly Message[]): void;
  /** The peer closed its connection, or its process died. */
  peerLost(peer: MemberId): void;
}

interface Frame {
  readonly from: WireEnd;
  readonly to: WireEnd;
  readonly messages: Message[];
}

function frameTo(frames: readonly Frame[], to: WireEnd | undefined): Frame | undefined {
  for (const frame of frames) if (frame.to === to) return frame;
  return undefined;
}

/** Of frames that wait for a cut path to heal, the newest so many are kept, as a full socket buffer would. */
const maxStuckFrames = 1_024;

/** How long a frame that is to be overtaken waits for another one. */
const swapWithinMs = 20;

export class CoreWire {
  private readonly world: World;
  private readonly ends: readonly WireEnd[];
  private readonly byMember: ReadonlyMap<MemberId, WireEnd>;
  /** When the last frame in order arrives, by path. */
  private readonly lastArrivalMs: number[];
  private readonly stuck = new Map<number, Frame[]>();
  /** Kept back until the next frame of its path has been sent. */
  private readonly swapped = new Map<number, Frame>();

  constructor(world: World, ends: readonly WireEnd[]) {
    this.world = world;
    this.ends = ends;
    this.byMember = new Map(ends.map((end) => [end.memberId, end]));
    this.lastArrivalMs = Array.from({ length: ends.length * ends.length }, () => 0);
    world.paths.atHeal((from, to) => this.healed(from, to));
  }

  /** Everything that one turn sends. */
  send(from: WireEnd, envelopes: readonly Envelope[]): void {
    if (envelopes.length === 1 || this.world.paths.temper.reordering > 0) {
      for (const { to, message } of envelopes) this.sendTo(from, to, message);
      return;
    }
    const frames: Frame[] = [];
    for (const { to: member, message } of envelopes) {
      const to = this.byMember.get(member);
      const frame = frameTo(frames, to);
      if (frame !== undefined) frame.messages.push(message);
      else if (to !== undefined) frames.push({ from, to, messages: [message] });
    }
    for (const frame of frames) this.post(frame);
  }

  /** A process ended, and its machine did not: it says goodbye to all that it can reach. */
  closed(from: WireEnd): void {
    for (const to of this.ends) if (to !== from) this.sayGoodbye(from, to, this.world.paths.delayMs());
  }

  private sayGoodbye(from: WireEnd, to: WireEnd, delayMs: number): void {
    const { timeline, paths } = this.world;
    if (paths.isCut(from.name, to.name)) return;
    timeline.schedule(delayMs, undefined, () => {
      if (!paths.isCut(from.name, to.name)) to.peerLost(from.memberId);
    });
  }

  private sendTo(from: WireEnd, member: MemberId, message: Message): void {
    const to = this.byMember.get(member);
    if (to !== undefined) this.post({ from, to, messages: [message] });
  }

  private post(frame: Frame): void {
    const { paths, trace } = this.world;
    const { from, to } = frame;
    if (paths.isCut(from.name, to.name)) {
      this.stick(frame);
      return;
    }
    const delaysMs = paths.delaysMs(from.name, to.name);
    if (delaysMs.length === 0) {
      trace.note(from.name, `frame to ${to.name} lost`);
      return;
    }
    if (paths.damages()) {
      // Its checksum shows it, and it is not handed on.
      trace.note(from.name, `frame to ${to.name} damaged`);
      return;
    }
    const path = this.pathOf(from, to);
    const kept = this.swapped.get(path);
    if (kept === undefined && paths.swaps()) {
      this.keepBack(path, frame);
      return;
    }
    const isRepeated = delaysMs.length > 1;
    for (const delayMs of delaysMs) this.dispatch(frame, delayMs, isRepeated || paths.overtakes());
    if (isRepeated) trace.note(from.name, `frame to ${to.name} repeated`);
    if (kept !== undefined) this.release(path, kept);
  }

  /** For the next frame of the path to overtake it; alone it goes where none comes in time. */
  private keepBack(path: number, frame: Frame): void {
    this.swapped.set(path, frame);
    this.world.timeline.schedule(swapWithinMs, undefined, () => this.release(path, frame));
  }

  private release(path: number, frame: Frame): void {
    if (this.swapped.get(path) !== frame) return;
    this.swapped.delete(path);
    this.dispatch(frame, this.world.paths.delayMs(), false);
  }

  private dispatch(frame: Frame, delayMs: number, overtakes: boolean): void {
    const { timeline } = this.world;
    const { from, to } = frame;
    let atMs = timeline.nowMs + delayMs;
    if (!overtakes) {
      const path = this.pathOf(from, to);
      atMs = Math.max(atMs, this.lastArrivalMs[path] as number);
      this.lastArrivalMs[path] = atMs;
    }
    timeline.place(atMs - timeline.nowMs, undefined, () => this.comeOut(frame));
  }

  /** At the far end of the path: what was on its way when it was cut has not passed it. */
  private comeOut(frame: Frame): void {
    const { paths, timeline } = this.world;
    const { from, to } = frame;
    if (paths.isCut(from.name, to.name)) this.stick(frame);
    else if (paths.isClogged(from.name, to.name)) {
      paths.whenUnclogged(from.name, to.name, () => {
        timeline.schedule(0, undefined, () => this.comeOut(frame));
      });
    } else to.receive(from.memberId, frame.messages);
  }

  private stick(frame: Frame): void {
    const path = this.pathOf(frame.from, frame.to);
    const stuck = this.stuck.get(path);
    if (stuck === undefined) this.stuck.set(path, [frame]);
    else {
      if (stuck.length >= maxStuckFrames) stuck.shift();
      stuck.push(frame);
    }
  }

  private healed(from: string, to: string): void {
    const [sender, receiver] = [this.endAt(from), this.endAt(to)];
    if (sender === undefined || receiver === undefined) return;
    const path = this.pathOf(sender, receiver);
    const stuck = this.stuck.get(path) ?? [];
    this.stuck.delete(path);
    switch (this.world.paths.temper.healMode) {
      case "keep":
        for (const frame of stuck) this.post(frame);
        return;
      case "drop":
        return;
      case "reset":
        this.sayGoodbye(sender, receiver, 0);
        this.sayGoodbye(receiver, sender, 0);
    }
  }

  private endAt(name: string): WireEnd | undefined {
    return this.ends.find((end) => end.name === name);
  }

  private pathOf(from: WireEnd, to: WireEnd): number {
    return from.at * this.ends.length + to.at;
  }
}
