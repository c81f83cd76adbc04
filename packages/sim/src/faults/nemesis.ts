/**
 * Carries faults out, and takes them back when their time is over.
 *
 * It decides nothing: what strikes and when comes from a schedule, or from `drawFault` (draw.ts).
 */
import type { Fault, ScheduledFault } from "./fault.ts";
import type { FaultyCluster, FaultyHost } from "./faultyCluster.ts";

export class Nemesis {
  /** All that struck, in order: a schedule that replays this run. */
  readonly struck: ScheduledFault[] = [];
  private readonly cluster: FaultyCluster;
  private readonly calmLatencyMs: number;
  isOver = false;

  constructor(cluster: FaultyCluster, calmLatencyMs: number) {
    this.cluster = cluster;
    this.calmLatencyMs = calmLatencyMs;
  }

  strike(fault: Fault): void {
    if (this.isOver) return;
    const { timeline, trace } = this.cluster.world;
    this.struck.push({ atMs: timeline.nowMs, fault });
    trace.note("##", describeFault(fault));
    this.cluster.checks.history.mark(`fault ${fault.kind}`);
    switch (fault.kind) {
      case "crash":
        this.crash(this.cluster.host(fault.node), fault);
        return;
      case "crashAll":
        for (const host of this.cluster.hosts) {
          this.cluster.crash(host, fault.silent);
          this.later(fault.forMs, () => this.cluster.start(host));
        }
        return;
      case "pause": {
        const host = this.cluster.host(fault.node);
        this.cluster.pause(host);
        this.later(fault.forMs, () => this.cluster.resume(host, fault.timersFirst));
        return;
      }
      case "partition":
        this.partition(fault);
        return;
      case "lossyPath": {
        const { paths } = this.cluster.world;
        paths.setExtraLoss(fault.from, fault.to, fault.loss);
        this.later(fault.forMs, () => paths.setExtraLoss(fault.from, fault.to, 0));
        return;
      }
      default:
        this.disk(this.cluster.host(fault.node), fault);
    }
  }

  /** Heals every path and disk, resumes what is paused and starts what is down. No fault strikes any more. */
  end(): void {
    this.cluster.world.paths.healAll();
    this.freeze(this.cluster.hosts);
  }

  /**
   * No fault strikes any more, and none is taken back by itself. All is well on `hosts` and between them; every other
   * node and path stays for ever as it is now.
   */
  freeze(hosts: readonly FaultyHost[]): void {
    this.isOver = true;
    const { paths, timeline } = this.cluster.world;
    const well = new Set(hosts.map(({ name }): string => name));
    paths.healAmong(well);
    for (const host of this.cluster.hosts) {
      host.directory.onWrite = undefined;
      host.temper.failsNext = false;
      if (well.has(host.name)) this.makeWell(host);
      else if (host.temper.hangsUntilMs > timeline.nowMs) host.temper.hangsUntilMs = Number.POSITIVE_INFINITY;
    }
  }

  private makeWell(host: FaultyHost): void {
    // Writes that hang for ever end with their process alone.
    if (host.temper.hangsUntilMs === Number.POSITIVE_INFINITY) this.cluster.crash(host, false);
    this.calmDisk(host);
    this.cluster.resume(host, true);
    this.cluster.start(host);
  }

  private later(delayMs: number, run: () => void): void {
    this.cluster.world.timeline.schedule(delayMs, undefined, () => {
      if (!this.isOver) run();
    });
  }

  private crash(host: FaultyHost, fault: Extract<Fault, { kind: "crash" }>): void {
    const strike = (): void => {
      this.cluster.crash(host, fault.silent);
      this.later(fault.forMs, () => this.cluster.start(host));
    };
    if (!fault.whenWriting || !host.isUp) {
      strike();
      return;
    }
    host.directory.onWrite = () => {
      host.directory.onWrite = undefined;
      // Somewhere within the write: before it, between batch and witness, or just after.
      this.later((fault.forMs % 8) / 8, strike);
    };
  }

  private partition({ cuts, forMs }: Extract<Fault, { kind: "partition" }>): void {
    const { network } = this.cluster.world;
    for (const [from, to] of cuts) network.cut(from, to);
    this.later(forMs, () => {
      this.cluster.world.trace.note("##", "the partition heals");
      for (const [from, to] of cuts) network.heal(from, to);
    });
  }

  private disk(
    host: FaultyHost,
    fault: Extract<Fault, { kind: "slowDisk" | "hangingDisk" | "diskError" | "rot" | "wipe" }>,
  ): void {
    const { timeline } = this.cluster.world;
    const restart = (): void => this.later(fault.forMs, () => this.cluster.start(host));
    switch (fault.kind) {
      case "slowDisk":
        host.temper.meanLatencyMs = fault.meanLatencyMs;
        this.later(fault.forMs, () => this.calmDisk(host));
        return;
      case "hangingDisk":
        host.temper.hangsUntilMs = timeline.nowMs + fault.forMs;
        return;
      case "diskError":
        if (!host.isUp) return;
        host.temper.failsNext = true;
        host.diskFailed = true;
        restart();
        return;
      case "rot": {
        const count = host.directory.batchCount;
        const from = Math.floor((count * fault.from) / 1_000);
        this.cluster.rot(host, from, Math.max(from + 1, Math.floor((count * fault.to) / 1_000)));
        restart();
        return;
      }
      case "wipe":
        this.cluster.wipe(host);
        restart();
    }
  }

  private calmDisk(host: FaultyHost): void {
    host.temper.meanLatencyMs = this.calmLatencyMs;
    host.temper.hangsUntilMs = 0;
    host.temper.failsNext = false;
  }
}

export function describeFault(fault: Fault): string {
  const duration = `for ${fault.forMs} ms`;
  switch (fault.kind) {
    case "crash":
      return [
        fault.node,
        fault.silent ? "loses power" : "is killed",
        ...(fault.whenWriting ? ["while it writes"] : []),
        duration,
      ].join(" ");
    case "crashAll":
      return `all nodes ${fault.silent ? "lose power" : "are killed"} ${duration}`;
    case "partition":
      return `partition (${fault.shape}) ${fault.cuts.map(([from, to]) => `${from}↛${to}`).join(" ")} ${duration}`;
    case "lossyPath":
      return `${fault.from}→${fault.to} loses ${Math.round(fault.loss * 100)} % ${duration}`;
    default:
      return `${fault.kind} ${fault.node} ${duration}`;
  }
}
