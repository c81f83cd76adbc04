/** Every promise that a node gives ends, and ends with the truth about the write. */
import { asIndex, asTerm, QuorateError } from "@quorate/raft";
import { Waiters } from "@quorate/raft/internal";
import { describe, expect, it } from "vitest";

function proposed(waiters: Waiters<string>, signal?: AbortSignal): { id: number; promise: Promise<unknown> } {
  let id = 0;
  const promise = waiters.proposal(signal, (given) => {
    id = given;
  });
  return { id, promise };
}

async function failureOf(promise: Promise<unknown>): Promise<QuorateError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(QuorateError);
  return error as QuorateError;
}

describe("a waiter", () => {
  it("gets the result of its own entry", async () => {
    const waiters = new Waiters<string>();
    const { id, promise } = proposed(waiters);
    waiters.proposalAnswered({ kind: "appended", id, index: asIndex(3), term: asTerm(2) });
    waiters.entryApplied(asIndex(3), asTerm(2), "done");
    await expect(promise).resolves.toEqual({ index: 3, term: 2, result: "done" });
    expect(waiters.size).toBe(0);
  });

  it("learns that it certainly had no effect when another entry took its place", async () => {
    const waiters = new Waiters<string>();
    const { id, promise } = proposed(waiters);
    waiters.proposalAnswered({ kind: "appended", id, index: asIndex(3), term: asTerm(2) });
    waiters.entryApplied(asIndex(3), asTerm(4), "someone else's");
    const error = await failureOf(promise);
    expect(error).toMatchObject({ code: "PROPOSAL_LOST", outcome: "none", retryable: true });
  });

  it("is told unknown, never failed, when leadership goes after the append", async () => {
    const waiters = new Waiters<string>();
    const { id, promise } = proposed(waiters);
    waiters.proposalAnswered({ kind: "appended", id, index: asIndex(3), term: asTerm(2) });
    waiters.leadershipLost(asIndex(2));
    expect(await failureOf(promise)).toMatchObject({ code: "PROPOSAL_LOST", outcome: "unknown" });
  });

  it("keeps waiting for its result when leadership goes after the commit", async () => {
    const waiters = new Waiters<string>();
    const { id, promise } = proposed(waiters);
    waiters.proposalAnswered({ kind: "appended", id, index: asIndex(3), term: asTerm(2) });
    waiters.leadershipLost(asIndex(3));
    waiters.entryApplied(asIndex(3), asTerm(2), "done");
    expect(await promise).toMatchObject({ index: 3, result: "done" });
  });

  it("is told unknown when a snapshot takes the place of its entry before it was applied here", async () => {
    const waiters = new Waiters<string>();
    const [early, late] = [proposed(waiters), proposed(waiters)];
    waiters.proposalAnswered({ kind: "appended", id: early.id, index: asIndex(3), term: asTerm(2) });
    waiters.proposalAnswered({ kind: "appended", id: late.id, index: asIndex(4), term: asTerm(2) });
    waiters.swallowed(asIndex(3));
    expect(await failureOf(early.promise)).toMatchObject({ code: "PROPOSAL_LOST", outcome: "unknown" });
    waiters.entryApplied(asIndex(4), asTerm(2), "done");
    expect(await late.promise).toMatchObject({ index: 4, result: "done" });
  });

  it("that waits to read what a snapshot will bring is sent elsewhere", async () => {
    const waiters = new Waiters<string>();
    let id = 0;
    const promise = waiters.read(undefined, (given) => {
      id = given;
    });
    const answer = { kind: "confirmed", id, index: asIndex(9), term: asTerm(2), asLeader: false } as const;
    waiters.readAnswered(answer, asIndex(3));
    waiters.readElsewhere();
    expect(await failureOf(promise)).toMatchObject({ code: "UNAVAILABLE", retryable: true, outcome: "none" });
    expect(waiters.size).toBe(0);
  });

  it("that waited for a transfer is refused when a successor is known, so that it can be told who", async () => {
    const waiters = new Waiters<string>();
    const { id, promise } = proposed(waiters);
    let isOver = false;
    promise
      .catch(() => {})
      .finally(() => {
        isOver = true;
      });
    waiters.proposalAnswered({ kind: "refused", id, reason: "handedOver" });
    await Promise.resolve();
    expect([isOver, waiters.awaitsSuccessor, waiters.size]).toEqual([false, true, 1]);
    waiters.successorKnown();
    expect(await failureOf(promise)).toMatchObject({ code: "NOT_LEADER", outcome: "none", retryable: true });
    expect(waiters.size).toBe(0);
  });

  it("that comes after the office was handed over waits for the successor's name too", async () => {
    const waiters = new Waiters<string>();
    const refuse = (): Promise<unknown> => {
      const { id, promise } = proposed(waiters);
      waiters.proposalAnswered({ kind: "refused", id, reason: "notLeader" });
      return promise;
    };
    const handOver = async (isLeading: boolean): Promise<void> => {
      let id = 0;
      const transfer = waiters.transfer(undefined, (given) => {
        id = given;
      });
      waiters.transferAnswered({ kind: "handedOver", id }, isLeading);
      await transfer;
    };
    await handOver(true);
    expect(waiters.awaitsSuccessor, "a transfer to the leader itself has no successor").toBe(false);
    await handOver(false);
    const late = refuse();
    expect([waiters.awaitsSuccessor, waiters.size]).toEqual([true, 1]);
    waiters.successorKnown();
    expect(await failureOf(late)).toMatchObject({ code: "NOT_LEADER", outcome: "none" });
    void refuse().catch(() => {});
    expect(waiters.size, "once the successor is known nobody waits").toBe(0);
  });

  it("is refused with outcome none when nothing was appended", async () => {
    const waiters = new Waiters<string>();
    const { id, promise } = proposed(waiters);
    waiters.proposalAnswered({ kind: "refused", id, reason: "overloaded" });
    expect(await failureOf(promise)).toMatchObject({ code: "OVERLOADED", outcome: "none", retryable: true });
  });

  it("ends when its signal does, with the outcome unknown, and leaves no listener behind", async () => {
    const waiters = new Waiters<string>();
    const controller = new AbortController();
    const { id, promise } = proposed(waiters, controller.signal);
    controller.abort();
    expect(await failureOf(promise)).toMatchObject({ code: "ABORTED", outcome: "unknown" });
    waiters.proposalAnswered({ kind: "refused", id, reason: "notLeader" });
    expect(waiters.size).toBe(0);
  });

  it("of a read resolves only when its index was applied", async () => {
    const waiters = new Waiters<string>();
    let id = 0;
    let settled = false;
    const promise = waiters
      .read(undefined, (given) => {
        id = given;
      })
      .then((point) => {
        settled = true;
        return point;
      });
    waiters.readAnswered(
      { kind: "confirmed", id, index: asIndex(9), term: asTerm(1), asLeader: true },
      asIndex(8),
    );
    waiters.appliedUpTo(asIndex(8));
    await Promise.resolve();
    expect(settled).toBe(false);
    waiters.appliedUpTo(asIndex(9));
    await expect(promise).resolves.toMatchObject({ index: 9, asLeader: true });
  });

  it("ends with the node: reads had no effect, writes may have", async () => {
    const waiters = new Waiters<string>();
    const write = proposed(waiters);
    const read = waiters.read(undefined, () => {});
    waiters.end((outcome) => new QuorateError("CLOSED", "Closed.", { outcome }));
    expect(await failureOf(write.promise)).toMatchObject({ code: "CLOSED", outcome: "unknown" });
    expect(await failureOf(read)).toMatchObject({ code: "CLOSED", outcome: "none" });
    expect(waiters.size).toBe(0);
  });
});
