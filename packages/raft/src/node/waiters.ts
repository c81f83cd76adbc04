/**
 * The promises of a node's callers. Each one ends: with a result, a refusal, or when leadership or the node goes.
 *
 * Nothing here decides anything about Raft; it only remembers who asked.
 */
import type {
  ProposalOutcome,
  ReadOutcome,
  RefusalReason,
  TransferAbort,
  TransferOutcome,
} from "../core/contract.ts";
import type { Index, Term } from "../core/types.ts";
import { QuorateError } from "../errors.ts";
import type { Applied, ReadPoint } from "./raftNode.ts";

/** A promise that is settled once, from outside, and that an `AbortSignal` can end. */
export interface Waiter<T> {
  resolve(value: T): void;
  reject(error: QuorateError): void;
}

interface Appended<Result> {
  readonly term: Term;
  readonly waiter: Waiter<Applied<Result>>;
}

interface PendingRead {
  readonly point: ReadPoint;
  readonly waiter: Waiter<ReadPoint>;
}

/** Writes that wait for a successor's name; what is more is refused at once. */
const maxHandedOver = 65_536;

export class Waiters<Result> {
  #nextId = 1;
  /** Proposed in this turn and not yet answered by the core. */
  readonly #proposed = new Map<number, Waiter<Applied<Result>>>();
  /** In the log, not yet applied; keyed by index. */
  readonly #appended = new Map<Index, Appended<Result>>();
  /** Waiting for a read index. */
  readonly #reading = new Map<number, Waiter<ReadPoint>>();
  /** From the moment at which this node handed its office over until there is a leader to be named again. */
  #awaitsSuccessor = false;
  /** Not appended meanwhile: told as soon as there is a successor to be named. */
  #handedOver: Waiter<Applied<Result>>[] = [];
  readonly #transferring = new Map<number, Waiter<void>>();
  /** Has a read index, waits until it is applied. In no order: there are few. */
  #confirmed: PendingRead[] = [];

  /** How many callers wait. */
  get size(): number {
    const proposals = this.#proposed.size + this.#appended.size + this.#handedOver.length;
    return proposals + this.#reading.size + this.#confirmed.length + this.#transferring.size;
  }

  /** How many callers the core has not answered yet. */
  get unanswered(): number {
    return this.#proposed.size + this.#reading.size;
  }

  proposal(signal: AbortSignal | undefined, start: (id: number) => void): Promise<Applied<Result>> {
    const id = this.#nextId++;
    return waiting(signal, "unknown", (waiter) => {
      this.#proposed.set(id, waiter);
      start(id);
    });
  }

  read(signal: AbortSignal | undefined, start: (id: number) => void): Promise<ReadPoint> {
    const id = this.#nextId++;
    return waiting(signal, "none", (waiter) => {
      this.#reading.set(id, waiter);
      start(id);
    });
  }

  /** Resolves when this node has stepped down for its successor. */
  transfer(signal: AbortSignal | undefined, start: (id: number) => void): Promise<void> {
    const id = this.#nextId++;
    return waiting(signal, "unknown", (waiter) => {
      this.#transferring.set(id, waiter);
      start(id);
    });
  }

  proposalAnswered(outcome: ProposalOutcome): void {
    const waiter = this.#proposed.get(outcome.id);
    if (waiter === undefined) return;
    this.#proposed.delete(outcome.id);
    if (outcome.kind === "appended") this.#appended.set(outcome.index, { term: outcome.term, waiter });
    else if (this.#mayWaitForSuccessor(outcome.reason)) this.#handedOver.push(waiter);
    else waiter.reject(refusal(outcome.reason));
  }

  /** What comes too late for the office that was handed over waits like what came in time. */
  #mayWaitForSuccessor(reason: RefusalReason): boolean {
    if (reason === "handedOver") this.#awaitsSuccessor = true;
    return this.#awaitsSuccessor && isNotLeader(reason) && this.#handedOver.length < maxHandedOver;
  }

  /** `isLeading`: as for a transfer to this node itself. */
  transferAnswered(outcome: TransferOutcome, isLeading: boolean): void {
    const waiter = this.#transferring.get(outcome.id);
    if (waiter === undefined) return;
    this.#transferring.delete(outcome.id);
    if (outcome.kind === "handedOver") {
      if (!isLeading) this.#awaitsSuccessor = true;
      waiter.resolve();
    } else waiter.reject(transferError(outcome));
  }

  get awaitsSuccessor(): boolean {
    return this.#awaitsSuccessor;
  }

  /** There is a leader to be named, or it took too long. */
  successorKnown(): void {
    this.#awaitsSuccessor = false;
    const waiters = this.#handedOver;
    this.#handedOver = [];
    for (const waiter of waiters) waiter.reject(refusal("handedOver"));
  }

  readAnswered(outcome: ReadOutcome, appliedIndex: Index): void {
    const waiter = this.#reading.get(outcome.id);
    if (waiter === undefined) return;
    this.#reading.delete(outcome.id);
    if (outcome.kind === "refused") {
      waiter.reject(refusal(outcome.reason));
      return;
    }
    const { index, term, asLeader } = outcome;
    const point = { index, term, asLeader };
    if (index <= appliedIndex) waiter.resolve(point);
    else this.#confirmed.push({ point, waiter });
  }

  entryApplied(index: Index, term: Term, result: Result): void {
    const appended = this.#appended.get(index);
    if (appended === undefined) return;
    this.#appended.delete(index);
    if (appended.term === term) appended.waiter.resolve({ index, term, result });
    else appended.waiter.reject(lost());
  }

  appliedUpTo(appliedIndex: Index): void {
    if (this.#confirmed.length === 0) return;
    const ready = this.#confirmed.filter((read) => read.point.index <= appliedIndex);
    if (ready.length === 0) return;
    this.#confirmed = this.#confirmed.filter((read) => read.point.index > appliedIndex);
    for (const read of ready) read.waiter.resolve(read.point);
  }

  /** A snapshot is on its way, and what waits to be applied comes with it: others can be asked sooner (RATIS-2511). */
  readElsewhere(): void {
    const reads = this.#confirmed;
    this.#confirmed = [];
    for (const { waiter } of reads) waiter.reject(refusal("elsewhere"));
  }

  /** A snapshot took the place of these entries: what came of them cannot be told any more. */
  swallowed(upTo: Index): void {
    for (const [index, { waiter }] of [...this.#appended]) {
      if (index > upTo) continue;
      this.#appended.delete(index);
      waiter.reject(
        new QuorateError(
          "PROPOSAL_LOST",
          "A snapshot took the place of the write's entry before it was applied here; it may have been kept. " +
            "Read the key to see, or write through a session, which retries safely.",
          { retryable: true, outcome: "unknown" },
        ),
      );
    }
  }

  /**
   * Leadership went: what was appended after `commitIndex` may still commit under the next leader, or not. The rest
   * is kept, and its results come when it is applied.
   */
  leadershipLost(commitIndex: Index): void {
    for (const [index, { waiter }] of [...this.#appended]) {
      if (index <= commitIndex) continue;
      this.#appended.delete(index);
      waiter.reject(
        new QuorateError(
          "PROPOSAL_LOST",
          "This node lost leadership while the write was under way; it may have been kept. " +
            "Read the key to see, or write through a session, which retries safely.",
          { retryable: true, outcome: "unknown" },
        ),
      );
    }
  }

  /** The node ends. */
  end(error: (outcome: "none" | "unknown") => QuorateError): void {
    const reads = [...this.#reading.values(), ...this.#confirmed.map((read) => read.waiter)];
    const notAppended = [...this.#handedOver];
    const proposals = [
      ...this.#transferring.values(),
      ...this.#proposed.values(),
      ...[...this.#appended.values()].map((entry) => entry.waiter),
    ];
    this.#reading.clear();
    this.#confirmed = [];
    this.#proposed.clear();
    this.#appended.clear();
    this.#handedOver = [];
    this.#transferring.clear();
    for (const waiter of [...reads, ...notAppended]) waiter.reject(error("none"));
    for (const waiter of proposals) waiter.reject(error("unknown"));
  }
}

export function waiting<T>(
  signal: AbortSignal | undefined,
  outcomeOfAbort: "none" | "unknown",
  register: (waiter: Waiter<T>) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) {
      reject(aborted("none", signal));
      return;
    }
    // An aborted waiter stays registered until the core answers it: that is bounded, and settling twice is harmless.
    const abort = (): void => reject(aborted(outcomeOfAbort, signal));
    signal?.addEventListener("abort", abort, { once: true });
    register({
      resolve(value) {
        signal?.removeEventListener("abort", abort);
        resolve(value);
      },
      reject(error) {
        signal?.removeEventListener("abort", abort);
        reject(error);
      },
    });
  });
}

function aborted(outcome: "none" | "unknown", signal: AbortSignal | undefined): QuorateError {
  return new QuorateError("ABORTED", "The caller's signal ended the waiting.", {
    outcome,
    cause: signal?.reason,
  });
}

function lost(): QuorateError {
  return new QuorateError(
    "PROPOSAL_LOST",
    "Another leader's entry took the write's place; it had no effect.",
    {
      retryable: true,
    },
  );
}

function transferError(outcome: Exclude<TransferOutcome, { kind: "handedOver" }>): QuorateError {
  const { reason } = outcome;
  switch (reason) {
    case "notLeader":
    case "overloaded":
      return refusal(reason);
    case "nobodyElse":
      return new QuorateError(
        "TRANSFER_FAILED",
        "No other node has a vote: there is nobody to lead instead.",
      );
    case "notVoter":
      return new QuorateError(
        "TRANSFER_FAILED",
        "The target has no vote in this cluster, so it cannot lead.",
      );
    default:
      return new QuorateError("TRANSFER_FAILED", `${abortSentences[reason]} Writes go on.`, {
        retryable: true,
      });
  }
}

const abortSentences: Readonly<Record<TransferAbort, string>> = {
  timedOut: "The target did not take over within an election timeout, so this node leads on.",
  superseded: "Another transfer was asked for, and replaced this one.",
  targetLost: "The target's process ended, so this node leads on.",
  targetRemoved: "The target lost its vote meanwhile, so this node leads on.",
  leadershipLost: "This node lost leadership before it could hand it over.",
};

function isNotLeader(reason: RefusalReason): boolean {
  return reason === "notLeader" || reason === "handedOver";
}

function refusal(reason: RefusalReason): QuorateError {
  switch (reason) {
    case "notLeader":
    case "handedOver":
      return new QuorateError("NOT_LEADER", "This node does not lead, or cannot reach the leader now.", {
        retryable: true,
      });
    case "elsewhere":
      return new QuorateError(
        "UNAVAILABLE",
        "This node is being brought up to date by a snapshot. Read from another one.",
        { retryable: true },
      );
    case "overloaded":
      return new QuorateError(
        "OVERLOADED",
        "This node has as many requests under way as it takes. Try again.",
        {
          retryable: true,
        },
      );
    case "mute":
      return new QuorateError("UNAVAILABLE", "This node lost part of its log and is catching up.", {
        retryable: true,
      });
  }
}
