/** What the driver tells the core of its disk, and what it reads from it, with a disk that takes its time. */
import {
  asIndex,
  asTerm,
  type Entry,
  type Event,
  type Index,
  type LogStore,
  type MemberId,
  memberId,
  type NodeId,
  votersOnly,
} from "@quorate/raft";
import {
  CoreDriver,
  coreOptions,
  MembershipWaiters,
  resolveRaftOptions,
  Waiters,
} from "@quorate/raft/internal";
import { describe, expect, it } from "vitest";
import { emptyRestored } from "./restored.ts";

const self = memberId("a" as NodeId, "0".repeat(16));
const leader = memberId("b" as NodeId, "0".repeat(16));

class Rig {
  readonly driver: CoreDriver<undefined>;
  readonly reads: [Index, Index][] = [];
  readonly failures: unknown[] = [];
  /** Ends the write under way. */
  finish: () => void = () => {};
  private nowMs = 0;
  private readonly deferred: (() => void)[] = [];

  constructor(voters: readonly MemberId[], lastIndex: number) {
    const configuration = votersOnly(voters.map((id) => ({ id, address: "ws://localhost:1" })));
    const restored = emptyRestored(configuration, {
      term: asTerm(1),
      lastIndex: asIndex(lastIndex),
      termRuns: lastIndex === 0 ? [] : [{ firstIndex: asIndex(1), term: asTerm(1) }],
    });
    const log: Pick<LogStore, "write" | "read"> = {
      write: () =>
        new Promise((resolve) => {
          this.finish = resolve;
        }),
      read: (from, to) => {
        this.reads.push([from, to]);
        return Promise.resolve([entry(from)]);
      },
    };
    const clock = {
      nowMs: () => this.nowMs,
      bootMs: () => this.nowMs,
      after: () => () => {},
      defer: (fn: () => void) => void this.deferred.push(fn),
    };
    this.driver = new CoreDriver(coreOptions(resolveRaftOptions({}), self, 1), restored, {
      clock,
      log: log as LogStore,
      machine: { apply: () => undefined },
      waiters: new Waiters(),
      memberships: new MembershipWaiters(),
      observer: {},
      options: resolveRaftOptions(),
      snapshotEvent: () => {},
      send: () => {},
      roleChanged: () => {},
      membershipChanged: () => {},
      failed: (error) => this.failures.push(error),
    });
  }

  /** Everything that can happen without the disk. */
  async settle(...events: readonly Event[]): Promise<void> {
    for (const event of events) this.driver.push(event);
    for (let round = 0; round < 20; round += 1) {
      for (let hop = 0; hop < 5; hop += 1) await Promise.resolve();
      this.nowMs += 1;
      for (const fn of this.deferred.splice(0)) fn();
    }
    expect(this.failures).toEqual([]);
  }
}

function entry(index: number): Entry {
  return { index: asIndex(index), term: asTerm(1), kind: "command", data: new Uint8Array() };
}

describe("the driver", () => {
  it("tells the core of a write when the log store has done it, and not before", async () => {
    const rig = new Rig([self], 0);
    await rig.settle({ kind: "tick" });
    expect(rig.driver.state.role, "its own vote is not durable").toBe("candidate");
    rig.finish();
    await rig.settle();
    expect(rig.driver.state.role).toBe("leader");
    expect(rig.driver.state.commitIndex, "its no-op is not durable").toBe(0);
    rig.finish();
    await rig.settle();
    expect(rig.driver.state.commitIndex).toBe(1);
  });

  it("reads for the machine only what is durable, though more is committed", async () => {
    const rig = new Rig([self, leader], 2);
    await rig.settle({
      kind: "received",
      from: leader,
      message: {
        kind: "appendRequest",
        term: asTerm(1),
        session: 1,
        prevIndex: asIndex(2),
        prevTerm: asTerm(1),
        commitIndex: asIndex(3),
        entries: [entry(3)],
      },
    });
    expect(rig.driver.state.commitIndex).toBe(3);
    expect(rig.driver.state.disk.durableIndex).toBe(2);
    expect(rig.reads[0]).toEqual([1, 2]);
    expect(rig.driver.appliedIndex, "what is in memory needs no disk").toBe(3);
  });
});
