/** Schedules as text: what is read back is what was written, and a wrong field is named. */
import { calmProfile, minimize, readSchedule, type Schedule, simulate, writeSchedule } from "@quorate/sim";
import { describe, expect, it } from "vitest";

const schedule: Schedule = {
  version: 1,
  seed: 4,
  nodes: 3,
  layer: "raft",
  profile: calmProfile,
  durationMs: 1_500,
  faults: [
    { atMs: 700, fault: { kind: "pause", node: "a", timersFirst: true, forMs: 300 } },
    { atMs: 900, fault: { kind: "crash", node: "b", silent: true, whenWriting: false, forMs: 200 } },
  ],
  operations: [{ atMs: 600, operation: { kind: "write", node: "a", timeoutMs: 500 } }],
};

describe("a schedule as text", () => {
  it("is read as it was written, one event a line", () => {
    const text = writeSchedule(schedule);
    expect(readSchedule(text)).toEqual(schedule);
    expect(text.split("\n").filter((line) => line.includes('"atMs"'))).toHaveLength(3);
  });

  it.each([
    ["{", /my.json is no JSON/],
    ["[]", /must be an object/],
    [{ version: 2 }, /"version": 1, but has 2/],
    [{ seed: -1 }, /seed must be an integer from 0/],
    [{ nodes: 9 }, /nodes must be an integer from 1 to 7, but is 9/],
    [{ layer: "disk" }, /layer must be "store" or "raft" or "core", but is "disk"/],
    [
      { layer: "core", faults: [{ atMs: 1, fault: { kind: "wipe", node: "a", forMs: 1 } }] },
      /must have a kind of crash, .*, rot, .*but has "wipe"/,
    ],
    [{ profile: { readShare: 2 } }, /profile: readShare must be a number from 0 to 1/],
    [{ profile: { wire: {} } }, /profile: wire must be an object whose minDelayMs is a number/],
    [
      { faults: [{ atMs: 1, fault: { kind: "flood" } }] },
      /faults\[0\]: fault must have a kind of crash, .*"flood"/,
    ],
    [{ faults: [{ atMs: 1, fault: { kind: "wipe", node: "x", forMs: 1 } }] }, /node must be one of a, b, c/],
    [
      { operations: [{ atMs: 1, operation: { kind: "get", client: 9, key: "k" } }] },
      /client must be 0, 1 or 2/,
    ],
    [{ color: 1 }, /has no field "color"/],
  ])("is refused with a sentence: %j", (change, sentence) => {
    const text = typeof change === "string" ? change : JSON.stringify({ ...schedule, ...change });
    expect(() => readSchedule(text, "my.json")).toThrow(sentence);
  });

  it("does exactly what it lists", async () => {
    const result = await simulate({ schedule });
    expect(result.violations).toEqual([]);
    expect(result.schedule.faults).toEqual(schedule.faults);
    expect(result.schedule.operations).toEqual(schedule.operations);
  });
});

describe("minimize", () => {
  const violation = { invariant: "liveness", atMs: 2_000, sentence: "b crashed" } as const;
  const fails = async ({ faults }: Schedule): Promise<typeof violation | undefined> =>
    faults.some(({ fault }) => fault.kind === "crash" && fault.node === "b") ? violation : undefined;

  it("keeps what matters and leaves the rest out", async () => {
    const found = await minimize(schedule, fails);
    expect(found?.isComplete).toBe(true);
    expect(found?.violation).toEqual(violation);
    expect(found?.schedule.faults.map(({ fault }) => fault.kind)).toEqual(["crash"]);
    expect(found?.schedule.faults[0]?.fault.forMs).toBe(1);
    expect(found?.schedule.operations).toEqual([]);
    expect(found?.schedule.nodes).toBe(2);
  });

  it("gives nothing for a schedule that breaks nothing", async () => {
    expect(await minimize(schedule, async () => undefined)).toBeUndefined();
  });

  it("never takes another violation for the same", async () => {
    const other = { ...violation, invariant: "commit rule" } as const;
    const found = await minimize(schedule, async (tried) => (tried === schedule ? violation : other));
    expect(found?.schedule).toEqual(schedule);
  });

  it("ends at its bounds and at its signal, with what it has", async () => {
    expect((await minimize(schedule, fails, { maxRuns: 3 }))?.runs).toBe(3);
    const found = await minimize(schedule, fails, { signal: AbortSignal.abort() });
    expect(found).toMatchObject({ runs: 1, isComplete: false, schedule });
  });
});
