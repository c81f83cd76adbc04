/** Faults of disks, and of what lies on them. */
import { isPending } from "@quorate/raft";
import type { DiskFault } from "./fault.ts";
import type { FaultyHost } from "./faultyCluster.ts";
import type { Strikes } from "./strikes.ts";

export const diskStrikes: Strikes<DiskFault["kind"]> = {
  slowDisk({ cluster, calmLatencyMs, later }, { node, meanLatencyMs, forMs }) {
    const host = cluster.host(node);
    host.temper.meanLatencyMs = meanLatencyMs;
    later(forMs, () => calmDisk(host, calmLatencyMs));
  },

  hangingDisk({ cluster }, { node, forMs }) {
    cluster.host(node).temper.hangsUntilMs = cluster.world.timeline.nowMs + forMs;
  },

  diskError({ cluster, later }, { node, forMs }) {
    const host = cluster.host(node);
    if (!host.isUp) return;
    host.temper.failsNext = true;
    later(forMs, () => cluster.start(host));
  },

  rot({ cluster, later }, { node, from, to, forMs }) {
    const host = cluster.host(node);
    const count = host.directory.batchCount;
    const first = Math.floor((count * from) / 1_000);
    cluster.rot(host, first, Math.max(first + 1, Math.floor((count * to) / 1_000)));
    later(forMs, () => cluster.start(host));
  },

  rotSnapshot({ cluster, later }, { node, at, forMs }) {
    const host = cluster.host(node);
    if (host.damage !== "none" || host.isForeign || !mayGoBack(host)) return;
    cluster.rotSnapshot(host, at);
    later(forMs, () => cluster.start(host));
  },

  wipe({ cluster, later }, { node, forMs }) {
    const host = cluster.host(node);
    cluster.wipe(host);
    later(forMs, () => cluster.start(host));
  },

  fullDisk({ cluster, later }, { node, forMs }) {
    const host = cluster.host(node);
    host.temper.isFull = true;
    const { observer } = cluster.world.trace;
    observer?.began("fullDisk", node);
    later(forMs / 2, () => cluster.start(host));
    later(forMs, () => {
      host.temper.isFull = false;
      observer?.ended("fullDisk", node);
      cluster.start(host);
    });
  },

  slowReads({ cluster, later }, { node, meanLatencyMs, forMs }) {
    const { temper } = cluster.host(node);
    temper.meanReadMs = meanLatencyMs;
    later(forMs, () => {
      temper.meanReadMs = 0;
    });
  },

  foreignDisk({ cluster, later }, { node, from, forMs }) {
    const host = cluster.host(node);
    const other = cluster.host(from);
    if (host === other || host.directory.isEmpty || other.directory.isEmpty || host.isForeign) return;
    cluster.lend(host, other);
    cluster.start(host);
    later(forMs, () => {
      cluster.giveBack(host);
      cluster.start(host);
    });
  },

  olderDisk({ cluster, later }, { node, forMs }) {
    const host = cluster.host(node);
    if (host.damage !== "none" || host.isForeign || host.directory.isEmpty) return;
    const putBack = cluster.keepCopy(host);
    cluster.crash(host, false);
    cluster.start(host);
    later(forMs, () => {
      if (host.damage !== "none" || host.isForeign || !cluster.isKnownToAll(host)) return;
      putBack();
      cluster.start(host);
    });
  },
};

/** There is a snapshot before its newest one, or its log begins at birth. */
function mayGoBack({ isUp, member }: FaultyHost): boolean {
  const state = member?.state;
  if (!isUp || member?.installing !== undefined || state === undefined) return false;
  const { newest, incoming } = state.snapshots;
  const { index } = state.log.boundary;
  return newest !== undefined && !isPending(incoming) && (index === 0 || member?.hasOlderSnapshot === true);
}

export function calmDisk(host: FaultyHost, latencyMs: number): void {
  host.temper.meanLatencyMs = latencyMs;
  host.temper.hangsUntilMs = 0;
  host.temper.failsNext = false;
  host.temper.isFull = false;
  host.temper.meanReadMs = 0;
}
