/**
 * Who waits for a write or a read of one core, and what each is told: the node's `Waiters` without promises.
 *
 * Each request ends once: by the core's answer, by what is applied, or when leadership goes. What a process that dies
 * owed is never told.
 */
import type { Entry, Index, ProposalOutcome, ReadOutcome, RefusalReason, Term } from "@quorate/raft";
import type { Listed } from "../cluster/listMachine.ts";

export type WriteEnd =
  | { readonly kind: "applied"; readonly index: Index; readonly result: Listed }
  /** It certainly had no effect. */
  | { readonly kind: "none"; readonly reason: RefusalReason | "another leader's entry took its place" }
  | { readonly kind: "unknown"; readonly reason: "leadership was lost" | "a snapshot took its place" };

export type ReadEnd =
  | { readonly kind: "confirmed"; readonly index: Index; readonly asLeader: boolean }
  | { readonly kind: "refused"; readonly reason: RefusalReason };

type Tell<End> = (end: End) => void;

interface AppendedWrite {
  readonly term: Term;
  readonly tell: Tell<WriteEnd>;
}

interface ConfirmedRead {
  readonly end: Extract<ReadEnd, { kind: "confirmed" }>;
  readonly tell: Tell<ReadEnd>;
}

export class CoreRequests {
  private lastId = 0;
  private readonly proposed = new Map<number, Tell<WriteEnd>>();
  private readonly appended = new Map<Index, AppendedWrite>();
  private readonly reading = new Map<number, Tell<ReadEnd>>();
  private confirmed: ConfirmedRead[] = [];

  /** The id to propose it under. */
  write(tell: Tell<WriteEnd>): number {
    this.lastId += 1;
    this.proposed.set(this.lastId, tell);
    return this.lastId;
  }

  read(tell: Tell<ReadEnd>): number {
    this.lastId += 1;
    this.reading.set(this.lastId, tell);
    return this.lastId;
  }

  proposalAnswered(outcome: ProposalOutcome): void {
    const tell = this.proposed.get(outcome.id);
    if (tell === undefined) return;
    this.proposed.delete(outcome.id);
    if (outcome.kind === "appended") this.appended.set(outcome.index, { term: outcome.term, tell });
    else tell({ kind: "none", reason: outcome.reason });
  }

  readAnswered(outcome: ReadOutcome, appliedIndex: Index): void {
    const tell = this.reading.get(outcome.id);
    if (tell === undefined) return;
    this.reading.delete(outcome.id);
    if (outcome.kind === "refused") {
      tell({ kind: "refused", reason: outcome.reason });
      return;
    }
    const { index, asLeader } = outcome;
    const end = { kind: "confirmed", index, asLeader } as const;
    if (index <= appliedIndex) tell(end);
    else this.confirmed.push({ end, tell });
  }

  entryApplied({ index, term }: Entry, result: Listed): void {
    const write = this.appended.get(index);
    if (write === undefined) return;
    this.appended.delete(index);
    if (write.term === term) write.tell({ kind: "applied", index, result });
    else write.tell({ kind: "none", reason: "another leader's entry took its place" });
  }

  appliedUpTo(appliedIndex: Index): void {
    if (this.confirmed.length === 0) return;
    const ready = this.confirmed.filter(({ end }) => end.index <= appliedIndex);
    if (ready.length === 0) return;
    this.confirmed = this.confirmed.filter(({ end }) => end.index > appliedIndex);
    for (const { end, tell } of ready) tell(end);
  }

  /** A snapshot is on its way: what waits to be applied comes with it. */
  readElsewhere(): void {
    const reads = this.confirmed;
    this.confirmed = [];
    for (const { tell } of reads) tell({ kind: "refused", reason: "elsewhere" });
  }

  /** A snapshot took the place of these entries. */
  swallowed(upTo: Index): void {
    for (const [index, { tell }] of [...this.appended]) {
      if (index > upTo) continue;
      this.appended.delete(index);
      tell({ kind: "unknown", reason: "a snapshot took its place" });
    }
  }

  /** What was appended may still commit under the next leader, or not. */
  leadershipLost(): void {
    const lost = [...this.appended.values()];
    this.appended.clear();
    for (const { tell } of lost) tell({ kind: "unknown", reason: "leadership was lost" });
  }
}
