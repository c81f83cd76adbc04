/**
 * Carries faults out, and takes them back when their time is over.
 *
 * It decides nothing: what strikes and when comes from a schedule, or from `drawFault` (draw.ts).
 */
import { clientsHost } from "../network/network.ts";
import { clockStrikes } from "./clockFaults.ts";
import { describeFault } from "./describeFault.ts";
import { calmDisk, diskStrikes } from "./diskFaults.ts";
import type { Fault, FaultKind, ScheduledFault } from "./fault.ts";
import type { FaultyCluster, FaultyHost } from "./faultyCluster.ts";
import { memberStrikes } from "./memberFaults.ts";
import { networkStrikes } from "./networkFaults.ts";
import { processStrikes } from "./processFaults.ts";
import type { Site, Strikes } from "./strikes.ts";
import { transferStrikes } from "./transferFaults.ts";

const strikes: Strikes<FaultKind> = {
  ...networkStrikes,
  ...processStrikes,
  ...diskStrikes,
  ...clockStrikes,
  ...transferStrikes,
  ...memberStrikes,
};

/** Up to this far from true time a clock is as clocks are, and is left as it is when all else is healed. */
const ordinaryDrift = 0.05;

/** From a failed write to the end of its process, with what it had begun. */
const stopWithinMs = 1_000;

export class Nemesis {
  /** All that struck, in order: a schedule that replays this run. */
  readonly struck: ScheduledFault[] = [];
  isOver = false;
  private readonly site: Site;

  constructor(cluster: FaultyCluster, calmLatencyMs: number) {
    const later = (delayMs: number, run: () => void): void => {
      cluster.world.timeline.schedule(delayMs, undefined, () => {
        if (!this.isOver) run();
      });
    };
    this.site = { cluster, calmLatencyMs, later };
  }

  strike(fault: Fault): void {
    if (this.isOver) return;
    const { checks, world } = this.site.cluster;
    this.struck.push({ atMs: world.timeline.nowMs, fault });
    world.trace.note("##", describeFault(fault));
    checks.history.mark(`fault ${fault.kind}`);
    const strike = strikes[fault.kind] as (site: Site, fault: Fault) => void;
    strike(this.site, fault);
  }

  /** Heals every path and disk, resumes what is paused and starts what is down. No fault strikes any more. */
  end(): void {
    const { cluster } = this.site;
    cluster.world.paths.healAll();
    this.freeze(cluster.hosts);
  }

  /**
   * No fault strikes any more, and none is taken back by itself. All is well on `hosts`, between them and to the
   * clients; every other node and path stays for ever as it is now.
   */
  freeze(hosts: readonly FaultyHost[]): void {
    this.isOver = true;
    const { cluster } = this.site;
    const { history } = cluster.checks;
    history.onPhase = undefined;
    history.onSnapshot = undefined;
    const { paths, timeline } = cluster.world;
    const well = new Set<string>(hosts.map(({ name }) => name));
    paths.healAmong(new Set([...well, clientsHost]));
    for (const host of cluster.hosts) {
      host.directory.onWrite = undefined;
      host.temper.failsNext = false;
      host.process?.spare();
      host.doomOfNextStart = undefined;
      if (well.has(host.name)) this.makeWell(host);
      else if (host.temper.hangsUntilMs > timeline.nowMs) host.temper.hangsUntilMs = Number.POSITIVE_INFINITY;
    }
  }

  private makeWell(host: FaultyHost): void {
    const { cluster, calmLatencyMs } = this.site;
    // Writes that hang for ever end with their process alone.
    if (host.temper.hangsUntilMs === Number.POSITIVE_INFINITY) cluster.crash(host, false);
    calmDisk(host, calmLatencyMs);
    cluster.giveBack(host);
    if (Math.abs(host.clockRate - 1) > ordinaryDrift) host.clockRate = 1;
    host.process?.clock.setRate(host.clockRate);
    host.process?.starve(0);
    for (const kind of ["noClients", "starved", "fullDisk"] as const) {
      cluster.world.trace.observer?.ended(kind, host.name);
    }
    const owesStop = host.isUp && host.temper.hasFailed;
    cluster.resume(host, true);
    cluster.start(host);
    // A write that was made to fail may come to light only now, and stop the node once more.
    if (owesStop) cluster.world.timeline.schedule(stopWithinMs, undefined, () => cluster.start(host));
  }
}
