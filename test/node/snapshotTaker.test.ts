/** When a node saves its state, and that it does so in the background. */
import {
  asIndex,
  asTerm,
  type Boundary,
  type Clock,
  type LogStore,
  type RaftOptions,
  type RaftState,
  type SnapshotHeader,
} from "@quorate/raft";
import { resolveRaftOptions, SnapshotTaker } from "@quorate/raft/internal";
import { beforeEach, describe, expect, it } from "vitest";
import { createCluster, entriesOf, nodeOf } from "../core/cluster.ts";

const pieces = [new Uint8Array(3), new Uint8Array(4), new Uint8Array(5)];

/** A taker of a node whose core, clock and store the test holds in its hands. */
class Scene {
  readonly state: RaftState;
  readonly written: number[] = [];
  readonly taken: SnapshotHeader[] = [];
  readonly failures: unknown[] = [];
  readonly timers: { delayMs: number; run: () => void }[] = [];
  deferred: (() => void)[] = [];
  begun: Boundary[] = [];
  aborted = 0;
  pulled = 0;
  nowMs = 0;
  msPerPiece = 0;
  failsNext = false;
  readonly taker: SnapshotTaker;

  constructor(options: RaftOptions, self = "a", nodes: readonly string[] = [self]) {
    const scene = this;
    const disks = { [self]: { entries: entriesOf([1, 1, 1, 1]) } };
    this.state = nodeOf(createCluster({ nodes, disks }), self).state;
    const clock: Clock = {
      nowMs: () => this.nowMs,
      bootMs: () => 0,
      after: (delayMs, run) => {
        this.timers.push({ delayMs, run });
        return () => {};
      },
      defer: (run) => void this.deferred.push(run),
    };
    const log = {
      snapshots: {
        async write(boundary: Boundary, configuration: SnapshotHeader["configuration"]) {
          scene.begun.push(boundary);
          return {
            boundary,
            async write(piece: Uint8Array) {
              if (scene.failsNext) throw new Error("no room");
              scene.written.push(piece.length);
            },
            async finish(): Promise<SnapshotHeader> {
              return { boundary, chain: 1, configuration, bytes: 12, checksum: 1 };
            },
            async abort() {
              scene.aborted += 1;
            },
          };
        },
      },
    };
    this.taker = new SnapshotTaker({
      clock,
      log: log as unknown as LogStore,
      machine: {
        view: () => ({
          *chunks() {
            for (const piece of pieces) {
              scene.pulled += 1;
              scene.nowMs += scene.msPerPiece;
              yield piece;
            }
          },
        }),
        restore: () => {
          throw new Error("nothing is restored here");
        },
      },
      options: resolveRaftOptions({ snapshotEntries: 3, snapshotBytes: 100, ...options }),
      state: this.state,
      taken: (header) => this.taken.push(header),
      failed: (error) => this.failures.push(error),
    });
  }

  apply(index: number, bytes: number): void {
    this.taker.applied(bytes);
    this.taker.progressed(asIndex(index));
  }

  /** One turn of the node, and what follows of it at once. */
  async turn(): Promise<void> {
    const due = this.deferred;
    this.deferred = [];
    for (const run of due) run();
    for (let hop = 0; hop < 20; hop += 1) await Promise.resolve();
  }
}

let scene: Scene;
beforeEach(() => {
  scene = new Scene({});
});

async function untilQuiet(): Promise<void> {
  for (let count = 0; count < 20; count += 1) await scene.turn();
}

describe("a snapshot is taken", () => {
  it("after so many entries, or so many bytes of them", async () => {
    scene.apply(1, 10);
    scene.apply(2, 10);
    await untilQuiet();
    expect(scene.begun).toEqual([]);
    scene.apply(3, 10);
    await untilQuiet();
    expect(scene.taken.map(({ boundary }) => boundary)).toEqual([{ index: 3, term: 1 }]);
    scene.apply(4, 200);
    await untilQuiet();
    expect(scene.taken.at(-1)?.boundary.index).toBe(4);
  });

  const lastSnapshot: SnapshotHeader = {
    boundary: { index: asIndex(0), term: asTerm(0) },
    chain: 1,
    configuration: { index: asIndex(0), configuration: { voters: [], outgoing: [], learners: [] } },
    bytes: 1_000,
    checksum: 1,
  };

  it("not before the log has grown by a part of what was saved last", async () => {
    scene = new Scene({ snapshotGrowthPercent: 50 });
    scene.state.snapshots.newest = lastSnapshot;
    scene.apply(3, 499);
    await untilQuiet();
    expect(scene.begun).toEqual([]);
    scene.apply(4, 1);
    await untilQuiet();
    expect(scene.begun).toMatchObject([{ index: 4 }]);
  });

  it("by one member after the other, where that part is what counts", async () => {
    const members = ["a", "b", "c"];
    const grownBytes: number[] = [];
    for (const self of members) {
      scene = new Scene({ snapshotGrowthPercent: 60 }, self, members);
      scene.state.snapshots.newest = lastSnapshot;
      let bytes = 0;
      for (; bytes < 2_000 && scene.begun.length === 0; bytes += 100) {
        scene.apply(4, 100);
        await untilQuiet();
      }
      grownBytes.push(bytes);
    }
    expect(grownBytes).toEqual([600, 800, 1_000]);
  });

  it("piece by piece, with a turn of the node between any two", async () => {
    scene.apply(3, 10);
    const perTurn: number[] = [];
    while (scene.taken.length === 0) {
      const before = scene.pulled;
      await scene.turn();
      perTurn.push(scene.pulled - before);
    }
    expect(scene.written).toEqual([3, 4, 5]);
    expect(Math.max(...perTurn)).toBe(1);
  });

  it("in half of the node's time, however long its pieces take", async () => {
    scene.msPerPiece = 3;
    scene.apply(3, 10);
    for (let piece = 1; piece <= pieces.length; piece += 1) {
      await untilQuiet();
      expect(scene.pulled).toBe(piece);
      expect(scene.taken).toEqual([]);
      const rest = scene.timers.at(-1);
      expect(scene.timers).toHaveLength(piece);
      expect(rest?.delayMs).toBe(3);
      rest?.run();
    }
    await untilQuiet();
    expect(scene.taken).toMatchObject([{ boundary: { index: 3 } }]);
  });

  it("going on soon where the node stood still in a piece of it", async () => {
    scene.msPerPiece = 10_000;
    scene.apply(3, 10);
    await untilQuiet();
    expect(scene.timers.map(({ delayMs }) => delayMs)).toEqual([10]);
  });

  it("one at a time", async () => {
    scene.apply(3, 10);
    await scene.turn();
    scene.apply(4, 500);
    await scene.turn();
    expect(scene.begun).toHaveLength(1);
    await untilQuiet();
    scene.taker.progressed(asIndex(4));
    await untilQuiet();
    expect(scene.begun.map(({ index }) => index)).toEqual([3, 4]);
  });

  it("never ahead of the log on the disk, though a follower applies what it has not written", async () => {
    scene.state.disk.durableIndex = asIndex(2);
    scene.apply(3, 10);
    await untilQuiet();
    expect(scene.begun).toEqual([]);
    scene.state.disk.durableIndex = asIndex(3);
    scene.taker.progressed(asIndex(4));
    await untilQuiet();
    expect(scene.taken).toMatchObject([{ boundary: { index: 3 } }]);
  });

  it("anew after a failure, which leaves nothing behind, some time later", async () => {
    scene.failsNext = true;
    scene.apply(3, 10);
    await untilQuiet();
    expect(scene.failures).toMatchObject([{ message: "no room" }]);
    expect(scene).toMatchObject({ aborted: 1, taken: [] });
    scene.failsNext = false;
    scene.taker.progressed(asIndex(4));
    await untilQuiet();
    expect(scene.begun, "not at once").toHaveLength(1);
    expect(scene.timers.map(({ delayMs }) => delayMs)).toEqual([5_000]);
    scene.timers[0]?.run();
    scene.taker.progressed(asIndex(4));
    await untilQuiet();
    expect(scene.taken).toMatchObject([{ boundary: { index: 4 } }]);
  });

  it("no more once a peer's snapshot is to take the state's place", async () => {
    scene.apply(3, 10);
    await scene.turn();
    let isOver = false;
    void scene.taker.cancel().then(() => {
      isOver = true;
    });
    await untilQuiet();
    expect(isOver).toBe(true);
    expect(scene).toMatchObject({ aborted: 1, taken: [], failures: [] });
  });

  it("at once where others found the newest one damaged", async () => {
    scene.taker.want();
    scene.apply(1, 1);
    await untilQuiet();
    expect(scene.taken).toMatchObject([{ boundary: { index: 1 } }]);
  });
});
