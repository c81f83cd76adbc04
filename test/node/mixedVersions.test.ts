/**
 * A rolling upgrade: nodes of three versions of the protocol in one cluster. Each is sent only what it knows, and what
 * it missed for that reach it once it was upgraded.
 */
import type { LogStore } from "@quorate/raft";
import { MemoryBatchStore, MemorySlotFile, MemorySnapshotFiles, openLog } from "@quorate/storage/internal";
import { memoryNetwork, peerVersions } from "@quorate/transport/links";
import { afterEach, expect, it } from "vitest";
import { type Running, random, runNode, untilWithin } from "./memoryNode.ts";

const until = untilWithin(20_000);
const names = ["a", "b", "c"];
/** A snapshot every 20 entries, and no log behind it. */
const eager = {
  snapshotEntries: 20,
  snapshotGrowthPercent: 0,
  compactionTailEntries: 0,
  compactionTailBytes: 0,
};

/** Directories that outlive their nodes. */
class Upgrades {
  readonly #network = memoryNetwork();
  readonly #places = new Map(names.map((name) => [name, newPlace()]));
  readonly nodes = new Map<string, Running>();

  async start(name: string, max: number): Promise<void> {
    const place = this.#places.get(name) ?? newPlace();
    const log: LogStore = await openLog({ ...place, nodeId: name as LogStore["identity"]["nodeId"], random });
    const versions = { min: 1, max };
    const kind = { options: eager, versions, snapshotting: true };
    this.nodes.set(name, await runNode(this.#network, log, names, kind));
  }

  async stop(name: string): Promise<void> {
    await this.nodes.get(name)?.stop();
    this.nodes.delete(name);
    const place = this.#places.get(name);
    if (place === undefined) return;
    this.#places.set(name, {
      batches: new MemoryBatchStore(place.batches.contents()),
      slots: new MemorySlotFile(place.slots.contents()),
      snapshots: new MemorySnapshotFiles(place.snapshots.contents()),
    });
  }

  leader(): Promise<Running> {
    return until("a leader", () =>
      [...this.nodes.values()].find(({ node }) => node.status().role === "leader"),
    );
  }

  /** As a client does: to whoever leads by now. */
  async write(text: string): Promise<void> {
    for (;;) {
      try {
        await (await this.leader()).node.propose(new TextEncoder().encode(text));
        return;
      } catch (error) {
        if ((error as { readonly outcome?: string }).outcome !== "none") throw error;
      }
    }
  }

  async writeMany(prefix: string, count: number): Promise<string[]> {
    const texts = Array.from({ length: count }, (_, n) => `${prefix}${n}`);
    for (const text of texts) await this.write(text);
    return texts;
  }

  allHave(written: readonly string[]): Promise<true> {
    return until(`all ${this.nodes.size} nodes have ${written.length} writes`, () =>
      [...this.nodes.values()].every(({ applied }) => applied.length === written.length) ? true : undefined,
    );
  }
}

function newPlace(): { batches: MemoryBatchStore; slots: MemorySlotFile; snapshots: MemorySnapshotFiles } {
  return {
    batches: new MemoryBatchStore(),
    slots: new MemorySlotFile(),
    snapshots: new MemorySnapshotFiles(),
  };
}

let upgrades = new Upgrades();

afterEach(async () => {
  await Promise.all([...upgrades.nodes.keys()].map((name) => upgrades.stop(name)));
  upgrades = new Upgrades();
});

it("writes go on while each node in turn is stopped and comes back as a newer version", async () => {
  const written: string[] = [];
  for (const name of names) await upgrades.start(name, 1);
  for (const max of [2, peerVersions.max]) {
    for (const name of names) {
      written.push(...(await upgrades.writeMany(`before ${name} speaks ${max}/`, 5)));
      await upgrades.stop(name);
      written.push(...(await upgrades.writeMany(`without ${name}/`, 5)));
      await upgrades.start(name, max);
      await upgrades.allHave(written);
    }
  }
  for (const { applied } of upgrades.nodes.values()) expect(applied).toEqual(written);
});

it("an old version is sent no snapshot: it stays behind, harms nobody, and gets it after its upgrade", async () => {
  await upgrades.start("a", peerVersions.max);
  await upgrades.start("b", peerVersions.max);
  await upgrades.start("c", 1);
  const written = await upgrades.writeMany("together/", 5);
  await upgrades.allHave(written);
  await upgrades.stop("c");
  written.push(...(await upgrades.writeMany("without c/", 100)));
  await upgrades.start("c", 1);
  await until("c follows again", () => upgrades.nodes.get("c")?.node.status().leader);
  written.push(...(await upgrades.writeMany("c is too old/", 200)));
  expect(upgrades.nodes.get("c")?.applied.length).toBeLessThanOrEqual(5);
  expect(upgrades.nodes.get("c")?.node.status().complaints).toEqual([]);
  await upgrades.stop("c");
  await upgrades.start("c", peerVersions.max);
  await upgrades.allHave(written);
  for (const { applied } of upgrades.nodes.values()) expect(applied).toEqual(written);
});
