/**
 * Handovers: from the call that gives a lease up to when the next one in the queue has it.
 *
 * The leader's thread and the clients' are on the way of each. How long they were ready and had no processor is told
 * apart: where there are more processes than processors, that is the system's doing as much as the program's.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster, Lease } from "quorate";
import { ProcessorWait } from "./processorWait.ts";

/** How leases are handed on: who takes one, who waits for it, and what the first one calls to give it up. */
type Handover = (
  a: Cluster,
  b: Cluster,
) => {
  take(): Promise<Lease>;
  wait(): Promise<Lease>;
  giveUp(held: Lease): Promise<void>;
};

export const byRelease: Handover = (a, b) => ({
  take: () => a.lease.acquire("released"),
  wait: () => b.lease.acquire("released"),
  giveUp: (held) => held.release(),
});

export const byResignation: Handover = (a, b) => {
  const [leader, candidate] = [a.election("resigned"), b.election("resigned")];
  return {
    take: () => leader.campaign(),
    wait: () => candidate.campaign(),
    giveUp: () => leader.resign(),
  };
};

export interface HandoverTime {
  readonly tookMs: number;
  /** Without what the leader's thread or the clients' waited for a processor, whichever is more. */
  readonly ownMs: number;
}

/** Of clients of this process, who take leases of nodes on this machine. */
export class Handovers {
  readonly #waits: readonly ProcessorWait[];

  constructor(leaderPid: number) {
    this.#waits = [new ProcessorWait(leaderPid), new ProcessorWait(process.pid)];
  }

  /** To one who has been waiting for `waitedMs`. */
  async measure({ take, wait, giveUp }: ReturnType<Handover>, waitedMs: number): Promise<HandoverTime> {
    const held = await take();
    const next = wait();
    await sleep(waitedMs);
    const before = this.#waits.map((thread) => thread.totalMs());
    const givenUpMs = performance.now();
    void giveUp(held);
    const lease = await next;
    const tookMs = performance.now() - givenUpMs;
    const waits = this.#waits.map((thread, position) => thread.totalMs() - (before[position] ?? 0));
    await lease.release();
    return { tookMs, ownMs: tookMs - Math.max(...waits) };
  }
}
