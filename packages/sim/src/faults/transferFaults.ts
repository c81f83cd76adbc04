/** Storms of transfers of leadership: what an impatient operator, or a broken tool, asks of whoever leads. */
import type { TransferFault } from "./fault.ts";
import type { Strikes } from "./strikes.ts";

export const transferStrikes: Strikes<TransferFault["kind"]> = {
  transfer({ cluster, later }, { target, times, forMs }) {
    for (let time = 0; time < times; time += 1) {
      later((forMs * time) / times, () => {
        const leader = cluster.leader();
        if (leader !== undefined) cluster.transfer(leader, target === "" ? undefined : target);
      });
    }
  },
};
