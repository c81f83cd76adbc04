/**
 * The checker against the definition of linearizability, tried in every order, and against a second
 * algorithm, on histories by chance. And its own evidence: the order that it gives is legal and keeps real
 * time.
 */
import {
  type CheckOptions,
  checkLinearizability,
  type LegalOrder,
  type Model,
  type Operation,
  unanswered,
} from "@quorate/sim";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLinearizableJustInTime } from "./justInTime.ts";
import { endsBefore, somePermutationIsLegal } from "./permutations.ts";
import { bentHistories, honestHistories } from "./randomHistories.ts";
import {
  appendList,
  fencedResource,
  keyValue,
  lock,
  plainRegister,
  type Subject,
  sessionCounter,
  versionedRegister,
} from "./subjects.ts";

/** Few enough for every order. */
const few = { maxLength: 8, overlap: 6, leastGap: 0, unanswered: 15 };
/** Few enough at a time for a search in breadth. */
const some = { maxLength: 24, overlap: 3, leastGap: 1, unanswered: 2 };
/** More than fit into one word of bits. */
const many = { maxLength: 80, overlap: 4, leastGap: 1, unanswered: 2 };

/** Legal from the initial state, and nothing is placed before what had returned before its call. */
function expectLegal<S, I, O>(model: Model<S, I, O>, order: LegalOrder<I, O>): void {
  let state = model.initial;
  for (const { end, input } of order.operations) {
    const next = model.step(state, input, end.kind === "ok" ? end.output : unanswered);
    if (next === undefined) throw new Error("an operation of the order is not legal");
    state = next;
  }
  for (const [index, operation] of order.operations.entries()) {
    expect(order.operations.slice(index).some((later) => endsBefore(later, operation))).toBe(false);
  }
}

/** Whether the history is linearizable, once all evidence was looked at. */
function verdictOf<S, I, O>(
  model: Model<S, I, O>,
  history: readonly Operation<I, O>[],
  options?: CheckOptions,
): boolean {
  const verdict = checkLinearizability(model, history, options);
  if (verdict.kind === "unknown") throw new Error("not decided");
  if (verdict.kind === "illegal") {
    expectLegal(model, verdict.longest);
    expect(verdict.longest.operations).not.toContain(verdict.blocked);
    expect(verdict.candidates).toContain(verdict.blocked);
    return false;
  }
  const placed = verdict.orders.flatMap((order) => order.operations);
  for (const order of verdict.orders) expectLegal(model, order);
  expect(placed.filter(({ end }) => end.kind === "ok")).toHaveLength(
    history.filter(({ end }) => end.kind === "ok").length,
  );
  expect(new Set(placed).size).toBe(placed.length);
  return true;
}

function agreeOn<S, I, O>(name: string, subject: Subject<S, I, O>): void {
  const { model } = subject;
  describe(`on histories of a ${name}, the checker`, () => {
    it("accepts every honest one", () => {
      fc.assert(fc.property(honestHistories(subject, many), (history) => verdictOf(model, history)));
    });

    it("agrees with every order tried out", () => {
      let bad = 0;
      fc.assert(
        fc.property(bentHistories(subject, few), (history) => {
          const legal = somePermutationIsLegal(model, history);
          if (!legal) bad += 1;
          expect(verdictOf(model, history)).toBe(legal);
        }),
        { numRuns: 400 },
      );
      // Otherwise the comparison would have been of nothing.
      expect(bad).toBeGreaterThan(20);
      expect(bad).toBeLessThan(380);
    });

    it("agrees with the second algorithm", () => {
      fc.assert(
        fc.property(bentHistories(subject, some), (history) => {
          expect(verdictOf(model, history)).toBe(isLinearizableJustInTime(model, history));
        }),
        { numRuns: 100 },
      );
    });
  });
}

agreeOn("register", plainRegister);
agreeOn("register with versions", versionedRegister);
agreeOn("list", appendList);
agreeOn("counter", sessionCounter);
agreeOn("lock", lock);
agreeOn("fenced resource", fencedResource);
agreeOn("key-value store", keyValue);
