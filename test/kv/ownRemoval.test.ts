/** How a node learns that it was removed: by its log, or by asking; when it asks, and what it takes for certain. */
import { commitIndexIn, createMachineHost, OwnRemoval, type ToldMembership } from "@quorate/kv/internal";
import { asIndex, QuorateError, silentLogger, votersOnly } from "@quorate/raft";
import { beforeEach, describe, expect, it } from "vitest";
import { type ManyTimers, manyTimers } from "../client/manyTimers.ts";
import { member } from "../transport/world.ts";
import { FakeRaftNode } from "./fakeRaftNode.ts";

const lookEveryMs = 3_000;
const graceMs = 300;
const named = (...names: string[]) => names.map((id) => ({ id: member(id), address: `ws://${id}:1` }));

let clock: ManyTimers;
let node: FakeRaftNode;
let asked: (readonly string[])[];
let told: QuorateError[];
let answer: (signal: AbortSignal) => Promise<ToldMembership>;

beforeEach(() => {
  clock = manyTimers();
  node = new FakeRaftNode(createMachineHost().machine);
  node.configuration = votersOnly(named("a", "b", "c"));
  asked = [];
  told = [];
  answer = () => Promise.reject(new QuorateError("UNAVAILABLE", "Nobody is there."));
});

function start(): OwnRemoval {
  return new OwnRemoval({
    node,
    clock,
    logger: silentLogger,
    lookEveryMs,
    graceMs,
    ask(endpoints, signal) {
      asked.push(endpoints);
      return answer(signal);
    },
    removed: (error) => told.push(error),
  });
}

function membership(
  names: readonly string[],
  facts: Partial<{ clusterId: string; index: number; commitIndex: number }> = {},
) {
  const { clusterId = node.status().clusterId ?? "", index = 7, commitIndex = 7 } = facts;
  const members = named(...names).map(({ id }) => ({ member: id }));
  return (): Promise<ToldMembership> =>
    Promise.resolve({ commitIndex, list: { clusterId, index, members } as never });
}

describe("a node that was removed", () => {
  it("asks the others at once when its own log says so, and is told after a moment in which it answers", async () => {
    answer = membership(["b", "c"]);
    start();
    node.removeAt(9);
    await clock.pass(graceMs - 1);
    expect([asked, told]).toEqual([[["ws://b:1", "ws://c:1"]], []]);
    await clock.pass(1);
    expect(told).toMatchObject([{ code: "REMOVED", message: expect.stringContaining("entry 9 of its log") }]);
    expect([clock.timers, node.listeners, asked.length]).toEqual([0, 0, 1]);
  });

  it("is told so where its log had it before anybody could listen", async () => {
    node.removedAt = asIndex(9);
    answer = membership(["b", "c"]);
    start();
    await clock.pass(graceMs);
    expect(told).toHaveLength(1);
  });

  it("asks again where its log says so and nobody could answer at first", async () => {
    start();
    node.removeAt(9);
    await clock.pass(lookEveryMs - 1);
    expect([asked.length, told]).toEqual([1, []]);
    answer = membership(["b", "c"]);
    await clock.pass(1 + graceMs);
    expect([asked.length, told.length]).toEqual([2, 1]);
  });

  it("knows by its own log too what is committed", async () => {
    const { commitIndex } = node.status();
    answer = membership(["b", "c"], { index: commitIndex, commitIndex: -1 });
    start();
    node.removeAt(9);
    await clock.pass(graceMs);
    expect(told).toHaveLength(1);
  });

  it("asks the others once it has had no leader at two looks, and again until they can say", async () => {
    node.turnTo(2, false);
    start();
    await clock.pass(2 * lookEveryMs - 1);
    expect(asked).toEqual([]);
    await clock.pass(1);
    expect(asked).toEqual([["ws://b:1", "ws://c:1"]]);
    answer = membership(["b", "c"]);
    await clock.pass(lookEveryMs + graceMs);
    expect(asked).toHaveLength(2);
    expect(told).toMatchObject([{ code: "REMOVED", retryable: false, outcome: "none" }]);
    expect(told[0]?.message).toMatch(/membership of entry 7 does not name it.*empty the directory.*--join/);
    expect(clock.timers).toBe(0);
  });

  it("asks at the first look where its log does not name it", async () => {
    node.configuration = votersOnly(named("b", "c"));
    node.turnTo(2, false);
    answer = membership(["b", "c"]);
    start();
    await clock.pass(lookEveryMs + graceMs);
    expect(told).toHaveLength(1);
  });
});

describe("what is known to be committed", () => {
  it("is what members of the same cluster say, and none of another cluster that has their name", () => {
    const list = { clusterId: "0", index: 7, members: [{ id: "b" }, { id: "c" }] } as never;
    const says = (id: string, clusterId: string | null, commitIndex: number | null) =>
      ({ id, clusterId, commitIndex }) as never;
    expect(commitIndexIn(list, [says("b", "0", 6), says("c", "0", 4), says("c", "1", 500)])).toBe(6);
    expect(commitIndexIn(list, [says("b", null, null), says("d", "0", 9)])).toBe(0);
  });
});

describe("a node that is a member", () => {
  it.each([
    ["named", () => membership(["a", "b", "c"])],
    ["told by another cluster", () => membership(["b", "c"], { clusterId: "another" })],
    ["told of what may be overwritten", () => membership(["b", "c"], { commitIndex: 6 })],
  ])("stays where it is %s", async (_, made) => {
    node.turnTo(2, false);
    answer = made();
    const removal = start();
    await clock.pass(10 * lookEveryMs);
    expect(asked).toHaveLength(9);
    expect(told).toEqual([]);
    removal.stop();
    expect([clock.timers, node.listeners]).toEqual([0, 0]);
  });

  it("stays where its log is still on its way from its removal to the entry that took it in again", async () => {
    answer = membership(["a", "b", "c"]);
    const removal = start();
    node.removeAt(9);
    await clock.pass(2 * lookEveryMs);
    expect([asked.length, told]).toEqual([3, []]);
    node.removedAt = undefined;
    await clock.pass(2 * lookEveryMs);
    expect([asked.length, told]).toEqual([3, []]);
    removal.stop();
  });

  it("asks nobody while it has a leader", async () => {
    answer = membership(["b", "c"]);
    const removal = start();
    await clock.pass(10 * lookEveryMs);
    expect(asked).toEqual([]);
    removal.stop();
  });

  it("says nothing once it is stopped, in the midst of a question too", async () => {
    node.turnTo(2, false);
    let reply: (told: ToldMembership) => void = () => {};
    let ends: AbortSignal | undefined;
    answer = (signal) => {
      ends = signal;
      return new Promise((resolve) => (reply = resolve));
    };
    const removal = start();
    await clock.pass(2 * lookEveryMs);
    expect(ends?.aborted).toBe(false);
    removal.stop();
    expect(ends?.aborted).toBe(true);
    reply(await membership(["b", "c"])());
    await clock.pass(10 * lookEveryMs);
    expect([told.length, asked.length, clock.timers]).toEqual([0, 1, 0]);
  });
});
