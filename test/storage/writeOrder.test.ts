/** A write of the log store: the batch, then its witness, and only then a promise may be made on it. */
import { systemRandom } from "@quorate/raft";
import { MemoryBatchStore, MemorySlotFile, MemorySnapshotFiles, openLog } from "@quorate/storage/internal";
import { describe, expect, it } from "vitest";
import { birthOf, entry, nodeA, persist } from "./vocabulary.ts";

/** Ends a write that is held. */
type Release = () => void;

class HeldBatches extends MemoryBatchStore {
  isHeld = false;
  held: Release[] = [];

  override async write(operations: Parameters<MemoryBatchStore["write"]>[0]): Promise<void> {
    if (this.isHeld) await new Promise<void>((resolve) => this.held.push(resolve));
    await super.write(operations);
  }
}

class HeldSlots extends MemorySlotFile {
  isHeld = false;
  held: Release[] = [];

  override async write(slot: 0 | 1, content: Uint8Array): Promise<void> {
    if (this.isHeld) await new Promise<void>((resolve) => this.held.push(resolve));
    await super.write(slot, content);
  }
}

async function settle(): Promise<void> {
  for (let hop = 0; hop < 50; hop += 1) await Promise.resolve();
}

describe("A write", () => {
  it("begins its witness when its batch is durable, and is done when both are", async () => {
    const batches = new HeldBatches();
    const slots = new HeldSlots();
    const snapshots = new MemorySnapshotFiles();
    const log = await openLog({ batches, slots, snapshots, nodeId: nodeA, random: systemRandom() });
    await log.bear(birthOf(log.identity));
    batches.isHeld = true;
    slots.isHeld = true;
    const before = log.sequence;
    let isDone = false;
    const write = log.write(persist({ term: 1, entries: [entry(1, 1)] })).then(() => {
      isDone = true;
    });
    await settle();
    expect(batches.held).toHaveLength(1);
    expect(slots.held, "a witness ahead of its batch would make a healthy node refuse").toHaveLength(0);
    batches.held[0]?.();
    await settle();
    expect(slots.held).toHaveLength(1);
    expect([isDone, log.sequence], "durable, and not witnessed").toEqual([false, before]);
    slots.held[0]?.();
    await write;
    expect(log.sequence).toBe(before + 1);
    await log.close();
  });

  it("takes what it cuts off the disk, so that the next opening finds nothing to say", async () => {
    const batches = new MemoryBatchStore();
    const slots = new MemorySlotFile();
    const snapshots = new MemorySnapshotFiles();
    const log = await openLog({ batches, slots, snapshots, nodeId: nodeA, random: systemRandom() });
    await log.bear(birthOf(log.identity));
    await log.write(persist({ term: 1, entries: [entry(1, 1), entry(2, 1), entry(3, 1)] }));
    await log.write(persist({ term: 2, truncateFrom: 2 }));
    const said: string[] = [];
    const say = (_: object, sentence: string): void => void said.push(sentence);
    const reopened = await openLog({
      batches: new MemoryBatchStore(batches.contents()),
      slots: new MemorySlotFile(slots.contents()),
      snapshots: new MemorySnapshotFiles(),
      nodeId: nodeA,
      random: systemRandom(),
      logger: { debug: say, info: say, warn: say, error: say },
    });
    expect(said).toEqual([]);
    await reopened.close();
    await log.close();
  });
});
