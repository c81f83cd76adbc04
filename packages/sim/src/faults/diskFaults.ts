/** Faults of disks, and of what lies on them. */
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
    host.diskFailed = true;
    later(forMs, () => cluster.start(host));
  },

  rot({ cluster, later }, { node, from, to, forMs }) {
    const host = cluster.host(node);
    const count = host.directory.batchCount;
    const first = Math.floor((count * from) / 1_000);
    cluster.rot(host, first, Math.max(first + 1, Math.floor((count * to) / 1_000)));
    later(forMs, () => cluster.start(host));
  },

  wipe({ cluster, later }, { node, forMs }) {
    const host = cluster.host(node);
    cluster.wipe(host);
    later(forMs, () => cluster.start(host));
  },
};

export function calmDisk(host: FaultyHost, latencyMs: number): void {
  host.temper.meanLatencyMs = latencyMs;
  host.temper.hangsUntilMs = 0;
  host.temper.failsNext = false;
}
