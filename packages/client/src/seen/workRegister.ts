/**
 * Work that runs under leases, so that work which goes on after its lease was lost can be seen: somebody else does the
 * same by then (kubernetes#82960).
 */
import type { Lease } from "../leaseApi.ts";

export interface OverdueWork {
  readonly name: string;
  readonly term: number;
  /** Since its lease was lost, as far as this process has seen. */
  readonly overdueMs: number;
}

export class WorkRegister {
  readonly #nowMs: () => number;
  /** When each lost its lease; undefined: it is held, or nobody has noticed. */
  readonly #running: Map<Lease, number | undefined> = new Map();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The result says that the work has settled. */
  began(lease: Lease): () => void {
    const onLoss = (): void => void this.#running.set(lease, this.#nowMs());
    this.#running.set(lease, undefined);
    lease.signal.addEventListener("abort", onLoss, { once: true });
    return () => {
      lease.signal.removeEventListener("abort", onLoss);
      this.#running.delete(lease);
    };
  }

  /** What is past its deadline though nobody has noticed counts, too. A lease that its work gave back does not. */
  get overdue(): readonly OverdueWork[] {
    const nowMs = this.#nowMs();
    return [...this.#running]
      .filter(([lease]) => lease.remainingMs() === 0 && lease.status !== "released")
      .map(([{ name, term }, lostMs]) => ({ name, term, overdueMs: nowMs - (lostMs ?? nowMs) }));
  }
}
