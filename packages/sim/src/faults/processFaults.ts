/** Faults of processes: killed, without power, standing still, short of time, or started with other options. */
import type { FaultOf, ProcessFault } from "./fault.ts";
import type { FaultyHost } from "./faultyCluster.ts";
import type { Site, Strikes } from "./strikes.ts";

export const processStrikes: Strikes<ProcessFault["kind"]> = {
  crash(site, fault) {
    const host = site.cluster.host(fault.node);
    if (fault.whenWriting && host.isUp) crashWhenWriting(site, host, fault);
    else crash(site, host, fault);
  },

  crashAll(site, fault) {
    for (const host of site.cluster.hosts) crash(site, host, fault);
  },

  pause({ cluster, later }, { node, timersFirst, forMs }) {
    const host = cluster.host(node);
    cluster.pause(host);
    later(forMs, () => cluster.resume(host, timersFirst));
  },

  crashAtCall(site, fault) {
    const host = site.cluster.host(fault.node);
    const doom = { calls: fault.calls, strike: () => crash(site, host, fault) };
    if (host.isUp) host.process?.doomAt(doom.calls, doom.strike);
    else host.doomOfNextStart = doom;
  },

  starvation({ cluster, later }, { node, eventMs, forMs }) {
    const { process } = cluster.host(node);
    if (process === undefined || !process.isAlive) return;
    const { observer } = cluster.world.trace;
    process.starve(eventMs);
    observer?.began("starved", node);
    later(forMs, () => {
      process.starve(0);
      observer?.ended("starved", node);
    });
  },

  changedTimeouts(site, { kind: _, node, forMs, ...timeouts }) {
    const host = site.cluster.host(node);
    host.timeouts = timeouts;
    crash(site, host, { silent: false, forMs });
  },
};

function crash({ cluster, later }: Site, host: FaultyHost, { silent, forMs }: Crash): void {
  cluster.crash(host, silent);
  later(forMs, () => cluster.start(host));
}

interface Crash {
  readonly silent: boolean;
  readonly forMs: number;
}

function crashWhenWriting(site: Site, host: FaultyHost, fault: FaultOf<"crash">): void {
  host.directory.onWrite = () => {
    host.directory.onWrite = undefined;
    // Somewhere within the write: before it, between batch and witness, or just after.
    site.later((fault.forMs % 8) / 8, () => crash(site, host, fault));
  };
}
