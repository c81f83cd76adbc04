/** What is counted of one cluster object, and its numbers put together. */
import type { Caller } from "../caller.ts";
import type { Router } from "../router.ts";
import type { Session } from "../session.ts";
import type { ClusterMetrics } from "./clusterMetrics.ts";
import { LeaseCounts } from "./leaseCounts.ts";
import { WorkRegister } from "./workRegister.ts";

export interface ObservedParts {
  readonly caller: Caller;
  readonly router: Router;
  /** Undefined where the object was made without a session. */
  readonly sessions: Session | undefined;
}

export class Observed {
  readonly leases: LeaseCounts;
  readonly works: WorkRegister;
  readonly #parts: ObservedParts;

  constructor(parts: ObservedParts) {
    const { clock } = parts.router;
    this.#parts = parts;
    this.leases = new LeaseCounts(() => clock.bootMs());
    this.works = new WorkRegister(() => clock.bootMs());
  }

  metrics(): ClusterMetrics {
    const { caller, router, sessions } = this.#parts;
    const { held, acquired, jeopardies, ended } = this.leases;
    return {
      requests: caller.counts.read(),
      failures: caller.counts.failures,
      connections: router.connections,
      leaderEndpoint: router.leaderEndpoint ?? null,
      sessions: sessions?.metrics() ?? { open: [], opened: 0, expired: 0 },
      leases: { held, acquired, jeopardies, ended },
      overdueWork: this.works.overdue,
    };
  }
}
