/** The leases in this process's hands, and what became of those that were. */
import type { HeldLease } from "../heldLease.ts";
import type { LeaseStatus } from "../leaseApi.ts";
import { LeaseLostError, type LossReason } from "../leaseLostError.ts";

export interface LeaseMetrics {
  readonly name: string;
  readonly term: number;
  readonly status: LeaseStatus;
  /** Until its deadline, as of now. */
  readonly remainingMs: number;
  /** Since it was in hand. */
  readonly heldMs: number;
  /** Since its work last reported; null where it need not. */
  readonly sinceProgressMs: number | null;
}

export class LeaseCounts {
  acquired = 0;
  /** How often one of them came into danger. */
  jeopardies = 0;
  readonly #nowMs: () => number;
  readonly #held: Map<HeldLease, number> = new Map();
  readonly #ended: Map<LossReason, number> = new Map();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  taken(lease: HeldLease): void {
    this.acquired += 1;
    this.#held.set(lease, this.#nowMs());
    lease.onJeopardy(() => {
      this.jeopardies += 1;
    });
    const over = (): void => {
      this.#held.delete(lease);
      const { reason } = lease.signal;
      if (!(reason instanceof LeaseLostError)) return;
      this.#ended.set(reason.reason, (this.#ended.get(reason.reason) ?? 0) + 1);
    };
    if (lease.signal.aborted) over();
    else lease.signal.addEventListener("abort", over, { once: true });
  }

  /** By how they were lost, or `released`. */
  get ended(): Readonly<Partial<Record<LossReason, number>>> {
    return Object.fromEntries(this.#ended);
  }

  get held(): readonly LeaseMetrics[] {
    const nowMs = this.#nowMs();
    return [...this.#held].map(([lease, sinceMs]) => ({
      name: lease.name,
      term: lease.term,
      status: lease.status,
      remainingMs: lease.remainingMs(),
      heldMs: nowMs - sinceMs,
      sinceProgressMs: lease.sinceProgressMs ?? null,
    }));
  }
}
