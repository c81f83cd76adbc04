/** Faults of processes: killed, without power, standing still, short of time, or started with other options. */
import type { SnapshotPhase } from "../invariants/history.ts";
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

  crashAtSnapshot(site, fault) {
    const { cluster } = site;
    const { history } = cluster.checks;
    history.onSnapshot = (phase, id) => {
      const host = cluster.hosts.find(({ member }) => member?.member === id);
      if (phase !== fault.phase || host?.process === undefined) return;
      history.onSnapshot = undefined;
      host.process.doomAt(fault.calls, () => {
        history.mark(`killed ${placeOf(host, phase)}`);
        crash(site, host, fault);
      });
    };
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

/** Where in its work with a snapshot a node is. */
function placeOf({ member }: FaultyHost, phase: SnapshotPhase): string {
  if (member?.installing !== undefined) return "while it installs a snapshot";
  if (member?.restoring !== undefined) return "while its machine is restored from a snapshot";
  switch (member?.state?.snapshots.incoming?.phase) {
    case "receiving":
      return "while it receives a snapshot";
    case "received":
      return "between receiving and installing a snapshot";
    default:
      return `in or after ${phase} a snapshot`;
  }
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
