/** Members that hold their stores against each other by way of the log: what is said, and that nothing else is. */
import { type Command, encodeProposal } from "@quorate/client/protocol";
import { createMachineHost, type MachineHost } from "@quorate/kv/internal";
import { asIndex, asTerm, type Entry, silentLogger } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import { comparedEvery, StateComparison } from "../../packages/kv/src/server/stateComparison.ts";
import { member } from "../transport/world.ts";

type Proposing = ConstructorParameters<typeof StateComparison>[0]["node"];

interface Replica {
  readonly host: MachineHost;
  readonly comparison: StateComparison;
  readonly proposed: Uint8Array[];
}

function replica(id: "a" | "b", role: "leader" | "follower"): Replica {
  const host = createMachineHost();
  const proposed: Uint8Array[] = [];
  const node = {
    member: member(id),
    status: () => ({ role }),
    propose: (data: Uint8Array) => {
      proposed.push(data);
      return Promise.resolve();
    },
  } as unknown as Proposing;
  const comparison = new StateComparison({ node, logger: silentLogger, defer: (fn) => fn() });
  host.onApplied = (entry) => comparison.applied(entry, host.store);
  return { host, comparison, proposed };
}

function entryOf(index: number, data: Uint8Array): Entry {
  return { index: asIndex(index), term: asTerm(1), kind: "command", data };
}

function write(index: number, value = index): Entry {
  const bytes = Uint8Array.of(value % 256, value >> 8);
  const condition = { kind: "none" } as const;
  const command: Command = { kind: "put", key: `k${index % 100}`, value: bytes, format: "bytes", condition };
  return entryOf(index, encodeProposal({ origin: { kind: "anonymous" }, command }));
}

function applyUpTo({ host }: Replica, first: number, last: number): void {
  for (let index = first; index <= last; index += 1) host.machine.apply(write(index));
}

describe("members that compare their states", () => {
  it("say nothing where they are equal, also one that was restored from a snapshot", () => {
    const [leader, follower] = [replica("a", "leader"), replica("b", "follower")];
    applyUpTo(leader, 1, 3_000);
    const restoration = follower.host.machine.restore();
    for (const chunk of leader.host.machine.view().chunks()) restoration.add(chunk);
    restoration.finish();
    for (const one of [leader, follower]) applyUpTo(one, 3_001, comparedEvery);
    expect(leader.proposed).toHaveLength(1);
    expect(follower.proposed).toHaveLength(0);
    for (const { host, comparison } of [leader, follower]) {
      host.machine.apply(entryOf(comparedEvery + 1, leader.proposed[0] as Uint8Array));
      expect(comparison.complaint).toBeUndefined();
    }
    expect(follower.host.store.revision).toBe(comparedEvery);
  });

  it("say at which entry they differ, and from whom, where one has applied another value", () => {
    const [leader, follower] = [replica("a", "leader"), replica("b", "follower")];
    applyUpTo(leader, 1, comparedEvery);
    applyUpTo(follower, 1, 3_999);
    follower.host.machine.apply(write(4_000, 7));
    applyUpTo(follower, 4_001, comparedEvery);
    for (const { host } of [leader, follower]) {
      host.machine.apply(entryOf(comparedEvery + 1, leader.proposed[0] as Uint8Array));
    }
    expect(leader.comparison.complaint).toBeUndefined();
    expect(follower.comparison.complaint).toContain(
      "At entry 4096 the store of this node was another than that of a",
    );
  });

  it("say nothing of an entry that they have not seen themselves", () => {
    const [leader, late] = [replica("a", "leader"), replica("b", "follower")];
    applyUpTo(leader, 1, comparedEvery);
    late.host.machine.apply(entryOf(comparedEvery + 1, leader.proposed[0] as Uint8Array));
    expect(late.comparison.complaint).toBeUndefined();
  });
});
