/** Faults of clocks: that of one node runs at another rate, leaps, or stands still while its machine is suspended. */
import type { ClockFault } from "./fault.ts";
import type { Strikes } from "./strikes.ts";

export const clockStrikes: Strikes<ClockFault["kind"]> = {
  clockRate({ cluster, later }, { node, rate, forMs }) {
    const host = cluster.host(node);
    const before = host.clockRate;
    host.clockRate = rate;
    host.process?.clock.setRate(rate);
    later(forMs, () => {
      host.clockRate = before;
      host.process?.clock.setRate(before);
    });
  },

  clockLeap({ cluster }, { node, forMs }) {
    cluster.host(node).process?.clock.leap(forMs);
  },

  suspend({ cluster, later }, { node, forMs }) {
    const host = cluster.host(node);
    if (!host.isUp || host.isPaused) return;
    cluster.pause(host, true);
    later(forMs, () => cluster.resume(host, false));
  },
};
