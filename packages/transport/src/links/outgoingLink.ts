/**
 * The link that this node dials to one peer, and over which it sends to it. It never receives: what a peer
 * says arrives over the connection that the peer dialled.
 *
 *     waiting ──▶ dialling (each address in turn) ──▶ standing
 *        ▲              │ none worked                    │ ended
 *        └──────────────┴────────────────────────────────┘
 *
 * No message waits here for a link: what cannot go now is dropped, and Raft sends again what matters.
 */
import {
  type Cancel,
  type Channel,
  type Clock,
  type CloseCause,
  ConnectionRefusedError,
  type Hello,
  type Logger,
  type MemberId,
  type Network,
  type NodeId,
  nodeIdOf,
  type PeerHello,
  type PeerMessage,
  QuorateError,
  type Random,
  type TransportHandlers,
} from "@quorate/raft";
import { FrameEncoder } from "../codec/repeatedFrames.ts";
import type { OpenChannels } from "./openChannels.ts";
import { type Pace, refusedRetryMs, retryMs } from "./pace.ts";
import { readPeerHello, writePeerHello } from "./peerHello.ts";
import { negotiate, type VersionRange, versionOf } from "./versions.ts";

/** What all links of a node share. */
export interface LinkWorld {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly versions: VersionRange;
  readonly pace: Pace;
  readonly handlers: TransportHandlers;
  readonly channels: OpenChannels;
}

interface Standing {
  readonly kind: "standing";
  readonly channel: Channel;
  readonly peer: PeerHello;
  /** Of the protocol, as agreed with this peer. */
  readonly version: number;
  readonly sinceMs: number;
  /** Set while too much is buffered: ends the link unless it drains. */
  jam: Cancel | undefined;
}

type State =
  | { readonly kind: "waiting"; readonly cancel: Cancel }
  | { readonly kind: "dialling"; readonly abort: AbortController; again: boolean }
  | Standing
  | { readonly kind: "closed" };

type Attempt = "linked" | "unreachable" | "refused";

/** Refusals that pass by themselves: tried again as if nobody had answered. */
const passingRefusals: ReadonlySet<string> = new Set(["BUSY", "STARTING", "CLOSING", "WRONG_NODE"]);

const maxComplaints = 32;

export class OutgoingLink {
  readonly #world: LinkWorld;
  readonly #node: NodeId;
  #addresses: readonly string[];
  /** Where the peer said that it is, when it last dialled us. */
  #shownAddress: string | undefined;
  #state: State = { kind: "closed" };
  #failures = 0;
  /** What was said already since the link stood last. */
  readonly #complaints = new Set<string>();
  readonly #encoder = new FrameEncoder();

  constructor(world: LinkWorld, node: NodeId, addresses: readonly string[]) {
    this.#world = world;
    this.#node = node;
    this.#addresses = addresses;
    this.#dial();
  }

  /** The member that the link stands to. */
  get member(): MemberId | undefined {
    return this.#state.kind === "standing" ? this.#state.peer.member : undefined;
  }

  /** Whether the peer knows such a message. */
  understands(message: PeerMessage): boolean {
    return this.#state.kind === "standing" && versionOf(message) <= this.#state.version;
  }

  useAddresses(addresses: readonly string[]): void {
    const isNew = addresses.some((address) => !this.#addresses.includes(address));
    this.#addresses = addresses;
    if (isNew) this.dialNow();
  }

  /** The peer has just connected to us: it is there, so dial it without waiting. */
  peerAppeared(peer: PeerHello): void {
    this.#shownAddress = peer.address;
    const state = this.#state;
    if (state.kind !== "standing") this.dialNow();
    else if (state.peer.member !== peer.member || state.peer.boot < peer.boot) {
      // It has restarted and the old connection does not know yet, as after a power cut.
      state.channel.close("you have restarted");
      this.#dial();
    }
  }

  dialNow(): void {
    switch (this.#state.kind) {
      case "waiting":
        this.#state.cancel();
        this.#failures = 0;
        this.#dial();
        break;
      case "dialling":
        this.#state.again = true;
        break;
      default:
    }
  }

  /** False when there is no way for a frame now. Asked before the frame is made. */
  canSend(): boolean {
    const state = this.#state;
    if (state.kind !== "standing") return false;
    const { maxBufferedBytes, maxJamMs } = this.#world.pace;
    if (state.channel.bufferedBytes <= maxBufferedBytes) {
      state.jam?.();
      state.jam = undefined;
      return true;
    }
    state.jam ??= this.#world.clock.after(maxJamMs, () => this.#endJam(state));
    return false;
  }

  /** One frame. */
  send(sequence: number, messages: readonly PeerMessage[]): void {
    if (this.#state.kind === "standing") this.#state.channel.send(this.#encoder.encode(sequence, messages));
  }

  close(reason: string): void {
    const state = this.#state;
    this.#state = { kind: "closed" };
    switch (state.kind) {
      case "waiting":
        state.cancel();
        break;
      case "dialling":
        state.abort.abort();
        break;
      case "standing":
        state.jam?.();
        state.channel.close(reason);
        break;
      default:
    }
  }

  #endJam(state: Standing): void {
    state.jam = undefined;
    if (this.#state !== state || state.channel.bufferedBytes <= this.#world.pace.maxBufferedBytes) return;
    const { maxJamMs } = this.#world.pace;
    const buffered = state.channel.bufferedBytes;
    this.#log(
      "warn",
      `Closing the link to ${this.#node}: for ${maxJamMs} ms it took less than it was sent.`,
      {
        buffered,
      },
    );
    state.channel.close("you take less than you are sent");
  }

  #dial(): void {
    const abort = new AbortController();
    const state: State = { kind: "dialling", abort, again: false };
    this.#state = state;
    void this.#tryAll(abort.signal).then((attempt) => {
      if (abort.signal.aborted || attempt === "linked") return;
      if (state.again) {
        this.#failures = 0;
        this.#dial();
      } else this.#wait(attempt);
    });
  }

  #wait(after: "unreachable" | "refused"): void {
    const { clock, pace, random } = this.#world;
    this.#failures += 1;
    const delayMs =
      after === "refused" ? refusedRetryMs(pace, random) : retryMs(pace, this.#failures, random);
    this.#state = { kind: "waiting", cancel: clock.after(delayMs, () => this.#dial()) };
  }

  /** Every address in turn, without a delay between them. */
  async #tryAll(signal: AbortSignal): Promise<Attempt> {
    let result: Attempt = "unreachable";
    const shown = this.#shownAddress === undefined ? [] : [this.#shownAddress];
    for (const address of new Set([...this.#addresses, ...shown])) {
      const attempt = await this.#try(address, signal);
      if (attempt === "linked" || signal.aborted) return attempt;
      if (attempt === "refused") result = "refused";
    }
    return result;
  }

  async #try(address: string, signal: AbortSignal): Promise<Attempt> {
    const { network, handlers, pace, versions } = this.#world;
    const hello = writePeerHello(handlers.hello(), versions, this.#node);
    let answer: { readonly channel: Channel; readonly hello: Hello };
    try {
      answer = await network.dial(address, hello, { signal, timeoutMs: pace.dialTimeoutMs });
    } catch (error) {
      return signal.aborted ? "unreachable" : this.#dialFailed(address, error);
    }
    if (signal.aborted) {
      answer.channel.close("not needed any more");
      return "unreachable";
    }
    return this.#judge(address, answer.channel, answer.hello);
  }

  #dialFailed(address: string, error: unknown): Attempt {
    if (error instanceof ConnectionRefusedError) {
      const { refusal } = error;
      const passes = passingRefusals.has(refusal.code);
      this.#complain(passes ? "info" : "warn", `${this.#node} at ${error.message}`, { code: refusal.code });
      if (refusal.code !== "WRONG_NODE") this.#world.handlers.refusedBy(this.#node, refusal);
      return passes ? "unreachable" : "refused";
    }
    const reason = error instanceof Error ? error.message : String(error);
    this.#complain("info", `No link to ${this.#node} at ${address}: ${reason}`, {});
    return error instanceof QuorateError && error.code === "REFUSED" ? "refused" : "unreachable";
  }

  /** The other side has accepted us; whether we accept it is decided here, before anything is sent. */
  #judge(address: string, channel: Channel, hello: Hello): Attempt {
    const peer = readPeerHello(hello);
    if (typeof peer === "string") return this.#turnAway(address, channel, peer, "refused");
    if (nodeIdOf(peer.member) !== this.#node) {
      const found = `There is ${nodeIdOf(peer.member)}, where ${this.#node} should be.`;
      return this.#turnAway(address, channel, found, "unreachable");
    }
    const agreed = negotiate(this.#world.versions, hello.protocol);
    if (agreed.kind === "refuse") return this.#turnAway(address, channel, agreed.reason, "refused");
    const refusal = this.#world.handlers.admit(peer);
    if (refusal !== undefined) return this.#turnAway(address, channel, refusal.reason, "refused");
    this.#stand(channel, peer, agreed.version);
    return "linked";
  }

  #turnAway(address: string, channel: Channel, reason: string, attempt: Attempt): Attempt {
    channel.close(reason.slice(0, 120));
    this.#complain("warn", `Will not talk to ${this.#node} at ${address}: ${reason}`, {});
    return attempt;
  }

  #stand(channel: Channel, peer: PeerHello, version: number): void {
    const { channels, clock, handlers } = this.#world;
    const sinceMs = clock.nowMs();
    const state: Standing = { kind: "standing", channel, peer, version, sinceMs, jam: undefined };
    this.#state = state;
    this.#complaints.clear();
    channels.open(channel, {
      frame: () => {
        this.#log(
          "warn",
          `Closing the link to ${peer.member}: it sent a frame over a connection that we dialled.`,
        );
        channel.close("members send over the connection that they dialled");
      },
      closed: (cause, reason) => this.#ended(state, cause, reason),
    });
    if (this.#state !== state) return;
    this.#log("info", `Linked to ${peer.member}.`, { address: peer.address });
    handlers.linked(peer);
  }

  #ended(state: Standing, cause: CloseCause, reason: string): void {
    state.jam?.();
    const { clock, handlers, pace } = this.#world;
    if (this.#state === state) {
      if (clock.nowMs() - state.sinceMs >= pace.stoodMs) this.#failures = 0;
      this.#wait("unreachable");
    }
    this.#log("info", `The link to ${state.peer.member} ended.`, { cause, reason });
    if (this.#state.kind !== "standing") handlers.unlinked(state.peer.member);
    handlers.lost(state.peer.member, cause);
  }

  /** The same complaint is for people once, and for debugging every further time. */
  #complain(level: "info" | "warn", message: string, fields: Record<string, unknown>): void {
    this.#log(this.#complaints.has(message) ? "debug" : level, message, fields);
    if (this.#complaints.size < maxComplaints) this.#complaints.add(message);
  }

  #log(level: "debug" | "info" | "warn", message: string, fields: Record<string, unknown> = {}): void {
    this.#world.logger[level]({ peer: this.#node, ...fields }, message);
  }
}
