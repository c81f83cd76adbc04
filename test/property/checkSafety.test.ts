/** `checkSafety` finds what is wrong with a user's machine, tells it in a few events, and lets sound machines pass. */
import { readSchedule, simulate, sizeOf, writeSchedule } from "@quorate/sim";
import { CounterexampleError, checkSafety, type SafetyOptions } from "@quorate/sim/property";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  Counter,
  counterModel,
  increments,
  RestoredCounter,
  requests,
  SavingCounter,
  SessionCounter,
} from "./machines.ts";

async function failureOf(search: Promise<unknown>): Promise<CounterexampleError> {
  const error = await search.then(
    (report) => new Error(`nothing was found: ${JSON.stringify(report)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CounterexampleError)) throw error;
  return error;
}

const restored = {
  machine: ({ disk }: { readonly disk: Map<string, unknown> }) => new RestoredCounter(disk),
  state: (counter: RestoredCounter) => counter.value,
  commands: increments,
};

const sound = {
  machine: () => new Counter(),
  state: (counter: Counter) => counter.value,
  commands: increments,
};

function counting(amount: (by: number) => number): SafetyOptions<{ readonly by: number }, Counter> {
  return { ...sound, machine: () => new Counter(amount) };
}

describe("checkSafety", () => {
  it("finds a counter that counts its log twice, and shrinks it to a command and a crash", async () => {
    const error = await failureOf(checkSafety(restored));
    const { path } = error.counterexample;
    expect(error.violation.invariant).toBe("replica equality");
    expect(error.schedule.operations?.map(({ operation }) => operation)).toEqual([
      expect.objectContaining({ kind: "command", command: { by: 1 } }),
    ]);
    expect(error.schedule.faults.map(({ fault }) => fault.kind)).toEqual([expect.stringMatching(/^crash/)]);
    // The shrinking draws times in steps of ten: less is the minimiser's.
    expect(error.schedule.faults[0]?.fault.forMs).toBeLessThan(10);
    expect(error.message).toMatch(
      /^"replica equality" is violated: \w starts with the state 1, and \w started with 0: /,
    );
    expect(error.message).toMatch(/^ +\d+ ms {2}client \d sends \{ by: 1 \}$/m);
    expect(error.message).toContain(`checkSafety({ ...options, seed: 1, path: "${path}" })`);
    expect(error).toMatchObject({ code: "INVARIANT_BROKEN", outcome: "none" });

    const replayed = await failureOf(checkSafety({ ...restored, path }));
    expect(replayed.schedule).toEqual(error.schedule);
    expect(replayed.counterexample).toMatchObject({ path, isReplay: true });
    const schedule = readSchedule(writeSchedule(error.schedule));
    const { violations } = await simulate({ schedule, machine: restored });
    expect(violations[0]).toEqual(error.violation);
  });

  it("lets a machine start from what it saved, if it says up to where that is", async () => {
    const saving = {
      machine: ({ disk }: { readonly disk: Map<string, unknown> }) => new SavingCounter(disk),
      state: ({ value }: SavingCounter) => value,
      appliedIndex: (counter: SavingCounter) => counter.appliedIndex,
      commands: increments,
      faults: ["crash", "crashAll"] as const,
      runs: 15,
    };
    expect((await checkSafety(saving)).acknowledged).toBeGreaterThan(30);
    // One that says so and counts again what it had saved, and one that has saved more than it says.
    const again = { ...saving, maxAttempts: 0, runs: 100 };
    const twice = await failureOf(
      checkSafety({ ...again, machine: ({ disk }) => new SavingCounter(disk, false) }),
    );
    expect(twice.violation.sentence).toMatch(
      /^entry \d+ \(.*\) makes the state \d+ on \w, which started with/,
    );
    const more = await failureOf(
      checkSafety({ ...again, appliedIndex: (counter) => Math.max(0, counter.appliedIndex - 1) }),
    );
    expect(more.violation.sentence).toMatch(
      /^\w starts with the state \d+, saved up to entry \d+, after which/,
    );
    const future = await failureOf(checkSafety({ ...again, appliedIndex: () => 7 }));
    expect(future.violation.sentence).toMatch(
      /starts with the appliedIndex 7, and 0 entries have been applied/,
    );
  });

  it("comes to the same case again from the same seed", async () => {
    const search = { ...restored, seed: 1, maxAttempts: 10 };
    const [one, again] = [await failureOf(checkSafety(search)), await failureOf(checkSafety(search))];
    expect(again.message).toBe(one.message);
  });

  it("lets a sound counter pass, with commands that came through", async () => {
    const report = await checkSafety({ ...sound, model: counterModel, nodes: [1, 3], runs: 15 });
    expect(report.runs).toBe(15);
    expect(report.acknowledged).toBeGreaterThan(30);
  });

  it.each([
    ["Date.now", () => Date.now()],
    ["new Date", () => new Date().getFullYear()],
    ["Math.random", () => Math.random()],
    ["performance.now", () => performance.now()],
    ["crypto.randomUUID", () => crypto.randomUUID().length],
  ])("notices a machine that asks for %s", async (name, ask) => {
    const error = await failureOf(checkSafety(counting((by) => (by > 0 ? by + 0 * ask() : 0))));
    expect(error.violation).toMatchObject({
      invariant: "determinism",
      sentence: expect.stringContaining(`asks for ${name} while it applies entry`),
    });
    expect(sizeOf(error.schedule)).toBe(1);
    expect(ask()).toBeGreaterThan(0);
  });

  it("minds no date that comes from the entry", async () => {
    const dated = counting((by) => (by > 0 ? new Date(by).getTime() : 0));
    expect(await checkSafety({ ...dated, runs: 3 })).toMatchObject({ runs: 3 });
  });

  it("notices an answer to a repetition that the machine does not recognise any more", async () => {
    const forgetful = {
      machine: () => new SessionCounter(1),
      state: (counter: SessionCounter) => counter.value,
      commands: requests(),
      model: counterModel,
      retries: 3,
      seed: 5,
      maxAttempts: 80,
    };
    const error = await failureOf(checkSafety(forgetful));
    expect(error.violation.invariant).toBe("linearizability");
    expect(sizeOf(error.schedule)).toBeLessThanOrEqual(6);
    expect(error.message).toMatch(/ms {2}\{ id: \d+, by: \d \} goes to \w$/m);
    expect(error.message).toMatch(
      /ms {2}client \d sends \{ id: \d+, by: \d \} again, to \w: it does not know/,
    );
    expect(error.message.match(/ms {2}(.*) is applied as entry \d+, on \w first$/gm)?.length).toBeGreaterThan(
      1,
    );
    expect(error.message).not.toContain("null prototype");
    const report = await checkSafety({ ...forgetful, machine: () => new SessionCounter(1_000), runs: 5 });
    expect(report.runs).toBe(5);
  });

  it("takes an invariant that returns false, or throws, at its word", async () => {
    const even = { ...sound, invariant: ({ value }: Counter) => value % 2 === 0 };
    const odd = await failureOf(checkSafety(even));
    expect(odd.violation.invariant).toBe("machine invariant");
    expect(odd.schedule.operations).toMatchObject([{ operation: { command: { by: 1 } } }]);
    const thrown = await failureOf(
      checkSafety({
        ...sound,
        invariant(counter, { commands }) {
          const sum = commands.reduce((total, { by }) => total + by, 0);
          if (counter.value !== sum) throw new Error("the sum is wrong");
          if (commands.length === 3) throw new Error("three at once");
        },
      }),
    );
    expect(thrown.violation.sentence).toMatch(/: three at once$/);
    expect(sizeOf(thrown.schedule)).toBe(3);
  });

  it("says so when the same case goes well the next time", async () => {
    let applied = 0;
    const outside = counting((by) => {
      applied += 1;
      return applied === 30 ? by + 1 : by;
    });
    const error = await failureOf(checkSafety({ ...outside, maxAttempts: 5 }));
    expect(error.counterexample.isRepeatable).toBe(false);
    expect(error.message).toContain("the machine keeps something outside of itself from run to run");
  });

  it("tells of a machine that throws", async () => {
    const broken = counting((by) => {
      if (by === 5) throw new Error("no fives");
      return by;
    });
    const error = await failureOf(checkSafety({ ...broken, maxAttempts: 60 }));
    expect(error.violation.invariant).toBe("no unexpected stop");
    expect(error.violation.sentence).toMatch(
      /^\w stops: apply throws at entry \d+ \(command \{ by: 5 \}\): no fives$/,
    );
    expect(error.cause).toBe(error.violation.cause);
    expect((error.cause as Error).stack).toContain("checkSafety.test.ts");
    expect(error.schedule.operations).toMatchObject([{ operation: { command: { by: 5 } } }]);
  });

  it("refuses to pass where no command came through", async () => {
    const search = checkSafety({ ...sound, runs: 3, maxCommands: 0 });
    await expect(search).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
  });

  it.each([
    [{ nodes: 8 }, /^nodes must be an integer from 1 to 7, but is 8\.$/],
    [{ nodes: [] }, /^nodes must be/],
    [{ runs: 0 }, /^runs must be/],
    [{ seed: -1 }, /^seed must be/],
    [{ faults: ["wipe" as "crash"] }, /^faults must be some of crash, .*, but is wipe\.$/],
    [{ commands: [1, 2] as never }, /^commands must be an arbitrary/],
    [{ state: 5 as never }, /^state must be a function/],
    [{ retrys: 5 } as object, /^retrys is no option of this call: it takes retries\.$/],
    [{ path: "3:99999" }, /^The path 3:99999 leads to no run: it is good for the seed and the options/],
    [{ path: "0:0:0:0:0" }, /^The path 0:0:0:0:0 leads to no run/],
    [{ path: "8:1/2" }, /^path must be numbers with colons between/],
  ])("refuses options that cannot be: %o", async (wrong, message) => {
    const search = checkSafety({ ...sound, ...wrong });
    await expect(search).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
      message: expect.stringMatching(message),
    });
  });

  it("passes on what the user's own code throws outside of the machine", async () => {
    const encode = (): never => {
      throw new Error("no encoding");
    };
    await expect(checkSafety({ ...sound, encode })).rejects.toThrow("no encoding");
    const model = {
      ...counterModel,
      step: (): never => {
        throw new Error("no model");
      },
    };
    await expect(checkSafety({ ...sound, model })).rejects.toThrow("no model");
  });

  it("ends by its signal, with the smallest case so far if there is one", async () => {
    const search = checkSafety({ ...sound, signal: AbortSignal.abort() });
    await expect(search).rejects.toMatchObject({ code: "ABORTED" });
    const controller = new AbortController();
    const stopped = counting((by) => {
      controller.abort();
      return by + Math.random();
    });
    const error = await failureOf(checkSafety({ ...stopped, signal: controller.signal }));
    expect(error.counterexample).toMatchObject({ attempts: 0, isSmallest: false });
    expect(error.message).toContain("perhaps not the smallest");
  });

  it("makes no more attempts than it is allowed", async () => {
    const { counterexample } = await failureOf(checkSafety({ ...restored, maxAttempts: 2 }));
    expect(counterexample).toMatchObject({ attempts: 2, isSmallest: false });
  });

  it("takes commands in any encoding", async () => {
    const bytes = {
      machine: () => new Counter(),
      state: (counter: Counter) => counter.value,
      commands: fc.bigInt({ min: 1n, max: 9n }),
      encode: (by: bigint) => new TextEncoder().encode(JSON.stringify({ by: Number(by) })),
    };
    expect((await checkSafety({ ...bytes, runs: 5 })).acknowledged).toBeGreaterThan(0);
    const error = await failureOf(checkSafety({ ...bytes, invariant: ({ value }) => value < 3 }));
    expect(error.message).toMatch(/sends [12]n[\s\S]*sends [12]n|sends 3n/);
  });
});
