/**
 * The simulated network: who listens where, how connections are made, and which there are.
 *
 * Each process has its own view of it, which implements the `Network` port. The death of a process closes its
 * listeners and connections; after the death of its machine the others find out by silence.
 */
import {
  type Answer,
  type Channel,
  ConnectionRefusedError,
  type DialOptions,
  type Hello,
  type Listener,
  type Network,
  QuorateError,
  type Refusal,
} from "@quorate/raft";
import type { SimulatedProcess } from "../world/process.ts";
import { ChannelEnd, type Wire } from "./connection.ts";

interface Listening {
  readonly host: string;
  readonly process: SimulatedProcess;
  readonly accept: (hello: Hello) => Answer;
}

type DialResult = { readonly channel: Channel; readonly hello: Hello };

export class SimulatedNetwork {
  private readonly wire: Wire;
  private readonly listeners = new Map<string, Listening>();
  private ends: ChannelEnd[] = [];
  private nextPort = 40_000;

  constructor(wire: Wire) {
    this.wire = wire;
    wire.paths.atHeal((from, to) => {
      wire.trace.observer?.ended("cut", from, to);
      for (const end of this.ends) {
        if (end.host === from && end.peer.host === to) end.healed();
      }
    });
    wire.paths.atUnclog((from, to) => wire.trace.observer?.ended("clogged", from, to));
  }

  /** Open ends; for checks that nothing is left over. */
  openEnds(): number {
    this.prune();
    return this.ends.length;
  }

  cut(from: string, to: string): void {
    const { timeline, paths, trace } = this.wire;
    if (paths.isCut(from, to)) return;
    trace.observer?.began("cut", from, to);
    paths.cut(from, to, timeline.nowMs);
    timeline.schedule(paths.temper.silenceMs, undefined, () => this.breakSilent(from, to));
  }

  heal(from: string, to: string): void {
    this.wire.paths.heal(from, to);
  }

  /** Nothing comes out of the path until `unclog`, and then all of it. */
  clog(from: string, to: string): void {
    const { paths, trace } = this.wire;
    if (paths.isClogged(from, to)) return;
    trace.observer?.began("clogged", from, to);
    paths.clog(from, to);
  }

  unclog(from: string, to: string): void {
    this.wire.paths.unclog(from, to);
  }

  /** Called when a process ends. `isSilent`: its machine lost power. */
  processEnded(process: SimulatedProcess, isSilent: boolean): void {
    for (const [address, listening] of this.listeners) {
      if (listening.process === process) this.listeners.delete(address);
    }
    for (const end of this.ends) {
      if (end.process !== process) continue;
      end.die(isSilent);
      if (!isSilent) continue;
      const { peer } = end;
      this.wire.timeline.schedule(this.wire.paths.temper.silenceMs, undefined, () =>
        peer.break("failed", "silence"),
      );
    }
    this.prune();
  }

  /** The network as `process` on `host` sees it. */
  portOf(process: SimulatedProcess, host: string): Network {
    return {
      dial: (address, hello, options) => this.dial(process, host, address, hello, options),
      listen: (address, accept) => this.listen(process, host, address, accept),
    };
  }

  private listen(
    process: SimulatedProcess,
    host: string,
    address: string,
    accept: (hello: Hello) => Answer,
  ): Promise<Listener> {
    process.interacts();
    return new Promise((resolve, reject) => {
      this.wire.timeline.schedule(0.125, process, () => {
        const actual = address.endsWith(":0") ? address.replace(/:0$/, `:${this.nextPort++}`) : address;
        if (this.listeners.has(actual)) {
          reject(new QuorateError("ADDRESS_IN_USE", `${actual} is in use: another process listens there`));
          return;
        }
        const listening: Listening = { host, process, accept };
        this.listeners.set(actual, listening);
        const close = (): Promise<void> =>
          new Promise((closed) => {
            if (this.listeners.get(actual) === listening) this.listeners.delete(actual);
            for (const end of this.ends) if (end.acceptedBy === listening) end.close("the listener closed");
            this.wire.timeline.schedule(0, process, closed);
          });
        resolve({ address: actual, close });
      });
    });
  }

  private dial(
    process: SimulatedProcess,
    host: string,
    address: string,
    hello: Hello,
    options: DialOptions,
  ): Promise<DialResult> {
    process.interacts();
    if (!process.isAlive) return new Promise(() => {});
    return new Promise((resolve, reject) => {
      let isSettled = false;
      const settle = (run: () => void): void => {
        if (isSettled) return;
        isSettled = true;
        cancelTimer();
        options.signal.removeEventListener("abort", aborted);
        run();
      };
      const fail = (why: string): void =>
        settle(() =>
          reject(new QuorateError("CONNECTION_FAILED", `${address}: ${why}`, { retryable: true })),
        );
      const aborted = (): void =>
        settle(() => reject(new QuorateError("ABORTED", `dialling ${address} was aborted`)));
      const cancelTimer = process.clock.after(options.timeoutMs, () =>
        fail(`no answer in ${options.timeoutMs} ms`),
      );
      if (options.signal.aborted) {
        aborted();
        return;
      }
      options.signal.addEventListener("abort", aborted, { once: true });
      const attempt = { process, host, address, hello: { ...hello } };
      this.request(attempt, {
        isWanted: () => !isSettled,
        connected: (channel, answer) => settle(() => resolve({ channel, hello: answer })),
        refused: (refusal) => settle(() => reject(new ConnectionRefusedError(address, refusal))),
        failed: fail,
      });
    });
  }

  private request(attempt: Attempt, outcome: DialOutcome): void {
    const { paths } = this.wire;
    const target = this.listeners.get(attempt.address);
    const from = attempt.host;
    // The address names the host, also while nobody listens there.
    const to = target?.host ?? hostOf(attempt.address);
    if (paths.isCut(from, to)) return;
    const back = (run: () => void): void => {
      if (!paths.isCut(to, from)) this.carry(to, from, attempt.process, run);
    };
    if (target === undefined) {
      this.carry(from, to, undefined, () => back(() => outcome.failed("connection refused")));
      return;
    }
    this.carry(from, to, target.process, () => {
      if (this.listeners.get(attempt.address) !== target) {
        back(() => outcome.failed("connection refused"));
        return;
      }
      const answer = target.accept(attempt.hello);
      if (answer.kind === "refuse") {
        back(() => outcome.refused(answer));
        return;
      }
      const isDatagram = attempt.hello.role === "peer";
      const near = new ChannelEnd(this.wire, attempt.process, from, isDatagram);
      const far = new ChannelEnd(this.wire, target.process, to, isDatagram);
      near.peer = far;
      far.peer = near;
      far.acceptedBy = target;
      this.prune();
      this.ends.push(near, far);
      answer.opened(far);
      if (!attempt.process.isAlive) near.die(false);
      else
        back(() => {
          if (outcome.isWanted()) outcome.connected(near, answer.hello);
          else near.close("no longer wanted");
        });
    });
  }

  /** What is said while a connection is made. */
  private carry(from: string, to: string, process: SimulatedProcess | undefined, run: () => void): void {
    const { timeline, paths } = this.wire;
    timeline.schedule(paths.delayMs(), process, () => {
      if (paths.isClogged(from, to)) paths.whenUnclogged(from, to, () => timeline.schedule(0, process, run));
      else run();
    });
  }

  private breakSilent(from: string, to: string): void {
    const { timeline, paths } = this.wire;
    const sinceMs = paths.cutSinceMs(from, to);
    if (sinceMs === undefined || timeline.nowMs - sinceMs < paths.temper.silenceMs) return;
    for (const end of this.ends) {
      const isBetween =
        (end.host === from && end.peer.host === to) || (end.host === to && end.peer.host === from);
      if (isBetween) end.break("failed", "silence");
    }
    this.prune();
  }

  private prune(): void {
    this.ends = this.ends.filter((end) => !end.isClosed || !end.peer.isClosed || end.hasStuck);
  }
}

interface Attempt {
  readonly process: SimulatedProcess;
  readonly host: string;
  readonly address: string;
  readonly hello: Hello;
}

interface DialOutcome {
  isWanted(): boolean;
  connected(channel: Channel, hello: Hello): void;
  refused(refusal: Refusal): void;
  failed(why: string): void;
}

/** All clients are on one machine, beside those of the nodes. */
export const clientsHost = "clients";

/** `ws://a:7101` is on the host `a`. */
export function hostOf(address: string): string {
  return address.replace(/^[a-z]+:\/\//, "").replace(/:\d+$/, "");
}

export function addressOf(host: string): string {
  return `ws://${host}:7101`;
}
