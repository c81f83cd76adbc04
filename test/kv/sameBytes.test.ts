/**
 * One log of store commands, through nodes that differ in everything that they may differ in: how the log is cut into
 * appends, what is kept in memory, when the disk is done, what is read meanwhile, where snapshots are taken and how
 * much of the log stays behind them, and where they are restarted. Each ends with the same bytes and has given the same
 * results. A restart begins at the newest snapshot, or at the first entry where there is none.
 */
import { type CommandResult, resultToWire } from "@quorate/client/protocol";
import { createMachineHost } from "@quorate/kv/internal";
import { type AppliedEntry, applyEntry, createStore, hashState, listPairs } from "@quorate/kv/machine";
import {
  asIndex,
  asTerm,
  type Clock,
  type Entry,
  type LogStore,
  memberId,
  type NodeId,
  systemRandom,
  votersOnly,
} from "@quorate/raft";
import {
  CoreDriver,
  coreOptions,
  MembershipWaiters,
  resolveRaftOptions,
  restoreMachine,
  Waiters,
} from "@quorate/raft/internal";
import { MemoryBatchStore, MemorySlotFile, MemorySnapshotFiles, openLog } from "@quorate/storage/internal";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longHistories } from "../machine/histories.ts";
import { longLeaseHistories } from "../machine/leaseHistories.ts";

const leader = memberId("b" as NodeId, "0".repeat(16));

interface Setting {
  readonly entriesPerAppend: number;
  /** 0: whatever is applied leaves the memory, and is read back from the log store. */
  readonly maxCachedBytes: number;
  readonly heartbeatMs: number;
  /** How many turns a write takes. */
  readonly turnsPerWrite: number;
  /** The commit index is told so many entries late. */
  readonly commitLag: number;
  readonly readsMeanwhile: boolean;
  /** A snapshot is taken after so many entries. */
  readonly snapshotEntries: number;
  /** So many before it stay in the log. */
  readonly compactionTailEntries: number;
  /** The node is closed and opened again when this part of the entries was sent, in percent. */
  readonly restartsAt: readonly number[];
  /** So many turns later: a snapshot takes some. */
  readonly turnsBeforeRestart: number;
}

const settings: fc.Arbitrary<Setting> = fc.record({
  entriesPerAppend: fc.constantFrom(1, 2, 7, 100),
  maxCachedBytes: fc.constantFrom(0, 1_000, 1_000_000),
  heartbeatMs: fc.constantFrom(10, 50),
  turnsPerWrite: fc.integer({ min: 0, max: 3 }),
  commitLag: fc.integer({ min: 0, max: 5 }),
  readsMeanwhile: fc.boolean(),
  snapshotEntries: fc.constantFrom(1, 4, 20),
  compactionTailEntries: fc.constantFrom(0, 1, 10),
  restartsAt: fc.uniqueArray(fc.integer({ min: 10, max: 99 }), { maxLength: 3 }),
  turnsBeforeRestart: fc.constantFrom(0, 20, 40),
});

interface Given {
  readonly entries: readonly AppliedEntry[];
}

interface Ended {
  readonly hash: string;
  /** By index. What a replay gave again was checked to be the same. */
  readonly results: ReadonlyMap<number, string>;
}

/** A node that follows a leader of the log's last term, over stores that outlive it. */
class Follower {
  private readonly setting: Setting;
  private readonly log: readonly Entry[];
  private readonly results = new Map<number, string>();
  private batches = new MemoryBatchStore();
  private slots = new MemorySlotFile();
  private snapshots = new MemorySnapshotFiles();
  /** Restarts that began at a snapshot. */
  restored = 0;
  private host = createMachineHost();
  private driver: CoreDriver<CommandResult> | undefined;
  private deferred: (() => void)[] = [];
  private turn = 0;
  private failure: unknown;
  private readonly clock: Clock = {
    nowMs: () => this.turn,
    bootMs: () => this.turn,
    after: () => () => {},
    defer: (fn) => void this.deferred.push(fn),
  };

  constructor(setting: Setting, log: readonly Entry[]) {
    this.setting = setting;
    this.log = log;
  }

  async run(): Promise<Ended> {
    const { entriesPerAppend, commitLag, restartsAt } = this.setting;
    const last = this.log.length;
    const restarts = new Set(restartsAt);
    let driver = await this.start();
    for (let sent = 0; sent < last; ) {
      const due = [...restarts].find((percent) => percent * last <= sent * 100);
      if (due !== undefined) {
        restarts.delete(due);
        await this.pass(this.setting.turnsBeforeRestart);
        driver = await this.start();
        sent = driver.state.log.lastIndex;
      }
      const end = Math.min(last, sent + entriesPerAppend);
      this.append(driver, sent, end, Math.max(0, end - commitLag));
      sent = end;
      await this.pass();
    }
    this.append(driver, last, last, last);
    for (let turn = 0; driver.appliedIndex < last; turn += 1) {
      if (turn > 1_000) throw new Error(`Applied ${driver.appliedIndex} of ${last} entries.`);
      await this.pass();
    }
    driver.stop();
    return { hash: hashState(this.host.store), results: this.results };
  }

  /** As after a crash: nothing is left of the process before but what its stores hold now. */
  private async start(): Promise<CoreDriver<CommandResult>> {
    this.driver?.stop();
    this.deferred = [];
    this.batches = new MemoryBatchStore(this.batches.contents());
    this.slots = new MemorySlotFile(this.slots.contents());
    this.snapshots = new MemorySnapshotFiles(this.snapshots.contents());
    this.host = createMachineHost();
    const { batches, slots, snapshots } = this;
    const store = await openLog({ batches, slots, snapshots, nodeId: "a" as NodeId, random: systemRandom() });
    const self = memberId(store.identity.nodeId, store.identity.incarnation);
    const voters = [self, leader].map((id) => ({ id, address: "ws://127.0.0.1:1" }));
    const restored =
      store.standing.kind === "born"
        ? store.standing.restored
        : await store.bear({ clusterId: "c".repeat(32), configuration: votersOnly(voters) });
    if (restored.snapshot !== undefined) {
      this.restored += 1;
      await restoreMachine(this.host.machine, store.snapshots, restored.snapshot, {
        ...this.clock,
        defer: setImmediate,
      });
    }
    const { maxCachedBytes, turnsPerWrite, heartbeatMs, snapshotEntries, compactionTailEntries } =
      this.setting;
    const resolved = resolveRaftOptions({
      heartbeatMs,
      snapshotEntries,
      snapshotGrowthPercent: 0,
      compactionTailEntries,
    });
    const { host } = this;
    this.driver = new CoreDriver<CommandResult>(
      { ...coreOptions(resolved, self, 1), maxCachedBytes },
      restored,
      {
        clock: this.clock,
        log: slowed(store, async () => {
          for (let turn = 0; turn < turnsPerWrite; turn += 1) await nextTurn();
        }),
        machine: { ...host.machine, apply: (entry) => this.apply(entry) },
        waiters: new Waiters(),
        memberships: new MembershipWaiters(),
        observer: {},
        options: resolved,
        snapshotEvent: (event) => {
          if (event.kind === "snapshotFailed") this.failure ??= new Error(event.reason);
        },
        send: () => {},
        roleChanged: () => {},
        membershipChanged: () => {},
        failed: (error) => {
          this.failure ??= error;
        },
      },
    );
    return this.driver;
  }

  private apply(entry: Entry): CommandResult {
    const result = this.host.machine.apply(entry);
    const text = JSON.stringify(resultToWire(result));
    expect(this.results.get(entry.index) ?? text, `entry ${entry.index}, replayed`).toBe(text);
    this.results.set(entry.index, text);
    return result;
  }

  private append(driver: CoreDriver<CommandResult>, previous: number, end: number, commit: number): void {
    driver.push({
      kind: "received",
      from: leader,
      message: {
        kind: "appendRequest",
        term: this.log.at(-1)?.term ?? asTerm(1),
        session: 1,
        prevIndex: asIndex(previous),
        prevTerm: this.log[previous - 1]?.term ?? asTerm(0),
        commitIndex: asIndex(commit),
        entries: this.log.slice(previous, end),
      },
    });
  }

  private async pass(turns = 1): Promise<void> {
    for (const last = this.turn + turns; this.turn < last; ) {
      this.turn += 1;
      for (const fn of this.deferred.splice(0)) fn();
      await nextTurn();
    }
    if (this.failure !== undefined) throw this.failure;
    if (this.setting.readsMeanwhile) {
      listPairs(this.host.store, { from: "", to: "" }, { limit: 2, reverse: true, keysOnly: true });
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function slowed(store: LogStore, wait: () => Promise<void>): LogStore {
  const slow: Pick<LogStore, "read" | "write" | "compact" | "snapshots"> = {
    snapshots: store.snapshots,
    compact: (upTo) => store.compact(upTo),
    read: (from, to, maxBytes) => store.read(from, to, maxBytes),
    write: async (persist) => {
      await wait();
      await store.write(persist);
    },
  };
  return slow as LogStore;
}

/** As Raft has them: terms that rise, and what is no command in between. */
function asEntries({ entries }: Given): Entry[] {
  return entries.map(({ index, term, data }) => {
    const place = { index: asIndex(index), term: asTerm(term) };
    if (index % 11 === 10) return { ...place, kind: "noop", data: new Uint8Array() };
    return { ...place, kind: "command", data };
  });
}

function reference(log: readonly Entry[]): Ended {
  const state = createStore();
  const results = new Map(
    log.map((entry) => [entry.index, JSON.stringify(resultToWire(applyEntry(state, entry)))]),
  );
  return { hash: hashState(state), results };
}

describe("one log of commands", () => {
  it.each([
    ["that change keys", longHistories as fc.Arbitrary<Given>],
    ["that change leases", longLeaseHistories as fc.Arbitrary<Given>],
  ])(
    "%s gives the same results and the same bytes, whatever a node's options, and wherever it is restarted",
    async (_, given) => {
      let restored = 0;
      await fc.assert(
        fc.asyncProperty(
          given,
          fc.array(settings, { minLength: 1, maxLength: 3 }),
          async (history, nodes) => {
            const log = asEntries(history);
            const expected = reference(log);
            for (const setting of nodes) {
              const follower = new Follower(setting, log);
              expect(await follower.run()).toEqual(expected);
              restored += follower.restored;
            }
          },
        ),
        { numRuns: 60 },
      );
      expect(restored, "restarts that began at a snapshot").toBeGreaterThan(0);
    },
  );
});
