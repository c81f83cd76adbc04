/** Leadership as the billing loop needs it, by a lease of the cluster: one of its own for each chapter. */
import { connect } from "@quorate/client";
import type { SchedulerOrders } from "./month.ts";
import type { Leadership } from "./scheduler.ts";

/** Waits for the lease, works under it, and gives it back. Rejects with what `work` threw, a lost lease among it. */
export async function underLease(
  { name, period, endpoints, leaseTtlMs }: SchedulerOrders,
  work: (leadership: Leadership) => Promise<void>,
): Promise<void> {
  const cluster = connect({ endpoints, sessionTtlMs: leaseTtlMs });
  try {
    const lease = await cluster.lease.acquire(`billing-scheduler/${period}`, { holder: name });
    try {
      await work({
        term: lease.term,
        check: () => void lease.check(),
        lastFinished: async () => Number((await lease.lastCheckpoint()) ?? 0),
        finished: (customer) => lease.checkpoint(customer),
      });
    } finally {
      await lease[Symbol.asyncDispose]();
    }
  } finally {
    await cluster.close();
  }
}
