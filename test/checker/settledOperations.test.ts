/**
 * Unknown outcomes settled by the log: whatever the log says, nothing that is wrong is hidden by it; and where it tells
 * the truth, nothing that is right is called wrong.
 */
import {
  checkLinearizability,
  type KnownEffect,
  type Operation,
  OperationRecorder,
  type RegisterInput,
  type RegisterOutput,
  registerModel,
  settledOperations,
} from "@quorate/sim";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { somePermutationIsLegal } from "./permutations.ts";
import { bentHistories, honestRuns } from "./randomHistories.ts";
import { appendList, keyValue, plainRegister, sessionCounter, versionedRegister } from "./subjects.ts";

const few = { maxLength: 8, overlap: 6, leastGap: 0, unanswered: 25 };
const many = { maxLength: 80, overlap: 4, leastGap: 1, unanswered: 15 };
const subjects = [plainRegister, versionedRegister, appendList, sessionCounter, keyValue] as const;

const register = registerModel();
const get: RegisterInput = { kind: "get" };
const put = (value: number): RegisterInput => ({ kind: "put", value });
const value = (of: number | undefined): RegisterOutput => ({ kind: "value", value: of });
const done: RegisterOutput = { kind: "done" };

describe("unknown outcomes that the log settles", () => {
  it.each(subjects.map((subject) => ({ name: subject.model.name, subject })))(
    "hide no violation of a $name, even where the log lies",
    ({ subject }) => {
      type Input = Parameters<typeof subject.answer>[1];
      type Output = ReturnType<typeof subject.answer>;
      const model = subject.model as Parameters<typeof somePermutationIsLegal<unknown, Input, Output>>[0];
      const outputs = subject.outputs as fc.Arbitrary<Output>;
      const histories = bentHistories(subject as never, few) as fc.Arbitrary<Operation<Input, Output>[]>;
      const claims = fc.array(fc.option(fc.tuple(outputs, fc.nat(8)), { nil: undefined }), { maxLength: 8 });
      let illegal = 0;
      fc.assert(
        fc.property(histories, claims, (history, told) => {
          const settled = settledOperations(history, ({ calledAt }, at): KnownEffect<Output> | undefined => {
            const claim = told[at];
            return claim === undefined ? undefined : { output: claim[0], at: calledAt + claim[1] };
          });
          expect(settled.some(({ end }) => end.kind === "unknown")).toBe(false);
          if (somePermutationIsLegal(model, history)) return;
          illegal += 1;
          expect(checkLinearizability(model, settled).kind).toBe("illegal");
        }),
        { numRuns: 300 },
      );
      expect(illegal).toBeGreaterThan(20);
    },
  );

  it.each(subjects.map((subject) => ({ name: subject.model.name, subject })))(
    "leave a history of a sound $name linearizable",
    ({ subject }) => {
      fc.assert(
        fc.property(honestRuns(subject as never, many), (run) => {
          const history = run.map(({ operation }) => operation);
          const settled = settledOperations(history, (_operation, at) => run[at]?.effect);
          expect(checkLinearizability(subject.model as never, settled).kind).toBe("linearizable");
        }),
        { numRuns: 50 },
      );
    },
  );

  it("show a read that missed a write of which nobody was told", () => {
    const recorder = new OperationRecorder<RegisterInput, RegisterOutput>();
    const lost = recorder.call("a", put(1));
    lost.unknown();
    lost.tookEffect(done);
    recorder.call("b", get).ok(value(undefined));
    expect(checkLinearizability(register, recorder.operations()).kind).toBe("linearizable");
    expect(checkLinearizability(register, recorder.settled()).kind).toBe("illegal");
  });

  it("are decided at once, also where there are hundreds, and a stale read among them is found", () => {
    const verdictOf = (isStale: boolean): readonly [asTold: string, settled: string, steps: number] => {
      const recorder = new OperationRecorder<RegisterInput, RegisterOutput>();
      for (let at = 1; at <= 300; at += 1) {
        const write = recorder.call("writer", put(at));
        write.unknown();
        // Of every other one the log knows nothing.
        if (at % 2 === 0) write.tookEffect(done);
        const seen = at - (at % 2);
        recorder.call("reader", get).ok(value((isStale && at === 290 ? seen - 2 : seen) || undefined));
      }
      const asTold = checkLinearizability(register, recorder.operations(), { maxSteps: 200_000 });
      const settled = checkLinearizability(register, recorder.settled(), { maxSteps: 200_000 });
      return [asTold.kind, settled.kind, settled.effort.steps];
    };
    const [, sound, steps] = verdictOf(false);
    expect(sound).toBe("linearizable");
    expect(steps).toBeLessThan(2_000);
    const [asTold, stale] = verdictOf(true);
    expect(asTold).toBe("unknown");
    expect(stale).toBe("illegal");
  });

  it("stay as they were where a client was told", () => {
    const recorder = new OperationRecorder<RegisterInput, RegisterOutput>();
    const answered = recorder.call("a", put(1));
    answered.tookEffect(value(7));
    answered.ok(done);
    const failed = recorder.call("a", put(2));
    failed.tookEffect(done);
    failed.failed();
    expect(recorder.settled()).toEqual(recorder.operations());
  });
});
