/** The simulated disk's snapshot files: they conform, and a crash at any instant leaves what a real one might. */
import type { LogStore, NodeId, QuorateError, SnapshotFiles } from "@quorate/raft";
import { asIndex, asTerm } from "@quorate/raft";
import { openLog, snapshotFilesSuite } from "@quorate/storage/internal";
import { describe, expect, it } from "vitest";
import { SimulatedDirectory } from "../../packages/sim/src/disk/directory.ts";
import { calmTemper, type DiskPorts, openDirectory } from "../../packages/sim/src/disk/stores.ts";
import { World } from "../../packages/sim/src/world/world.ts";
import { birthOf, entry, persist } from "../storage/vocabulary.ts";

class DiskUnderTest {
  readonly world: World;
  readonly directory: SimulatedDirectory;
  readonly temper = calmTemper(0.5);
  private starts = 0;

  constructor(seed: number) {
    this.world = new World(seed, { keptLines: 10 });
    this.directory = new SimulatedDirectory(this.world.chance("directory"));
  }

  start(): { ports: DiskPorts; kill: () => void } {
    this.starts += 1;
    const process = this.world.process(`start ${this.starts}`);
    const { timeline, trace } = this.world;
    const chance = this.world.chance(`disk ${this.starts}`);
    const ports = openDirectory({ timeline, trace, chance }, process, this.directory, this.temper);
    return { ports, kill: () => process.kill() };
  }

  /** Lets virtual time go on until `work` is done. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const end = (): void => {
      isDone = true;
    };
    work.then(end, end);
    await this.world.run(this.world.timeline.nowMs + 600_000, () => isDone);
    return work;
  }
}

/** The same files, for whom time goes on while they are waited for. */
function timed(disk: DiskUnderTest, files: SnapshotFiles): SnapshotFiles {
  return {
    list: () => disk.until(files.list()),
    create: (name) => disk.until(files.create(name)),
    append: (name, bytes) => disk.until(files.append(name, bytes)),
    sync: (name) => disk.until(files.sync(name)),
    rename: (from, to) => disk.until(files.rename(from, to)),
    remove: (name) => disk.until(files.remove(name)),
    syncNames: () => disk.until(files.syncNames()),
    read: (name, offset, maxBytes) => disk.until(files.read(name, offset, maxBytes)),
    close: () => disk.until(files.close()),
  };
}

describe("A simulated disk conforms as snapshot files: it", () => {
  const suite = snapshotFilesSuite(async () => {
    const disk = new DiskUnderTest(1);
    const first = disk.start();
    const reopen = async (): Promise<SnapshotFiles> => {
      first.kill();
      return timed(disk, disk.start().ports.snapshots);
    };
    return { files: timed(disk, first.ports.snapshots), reopen };
  });
  for (const { name, run } of suite) it(name, run);
});

const node = "a" as NodeId;

function open(disk: DiskUnderTest): { log: Promise<LogStore>; kill: () => void } {
  const { ports, kill } = disk.start();
  const log = openLog({ ...ports, nodeId: node, random: disk.world.chance("incarnation") });
  return { log, kill };
}

/** A short life with snapshots and a compaction; `written`: how many entries were acknowledged. */
async function live(log: LogStore, told: (written: number) => void): Promise<void> {
  const configuration = { index: asIndex(0), configuration: birthOf(log.identity).configuration };
  if (log.standing.kind !== "born") await log.bear(birthOf(log.identity));
  const { standing } = log;
  if (standing.kind !== "born") throw new Error(standing.kind);
  let last: number = standing.restored.lastIndex;
  for (;;) {
    last += 1;
    await log.write(persist({ term: 1, entries: [entry(last, 1)] }));
    told(last);
    if (last % 3 !== 0) continue;
    const writer = await log.snapshots.write({ index: asIndex(last - 1), term: asTerm(1) }, configuration);
    for (let n = 1; n < last; n += 1) await writer.write(Buffer.from([n]));
    await writer.finish();
    const { compactableTo } = log.snapshots;
    if (compactableTo !== undefined) await log.compact(compactableTo);
  }
}

async function crashAgainAndAgain(seed: number): Promise<string> {
  const disk = new DiskUnderTest(seed);
  const chance = disk.world.chance("crashes");
  let acknowledged = 0;
  let trail = "";
  for (let start = 0; start < 12; start += 1) {
    const { log: opening, kill } = open(disk);
    const log = await disk.until(opening);
    const { standing } = log;
    if (standing.kind === "born") {
      const { snapshot, lastIndex, floor } = standing.restored;
      expect(floor, `seed ${seed}, start ${start}`).toBeUndefined();
      expect(lastIndex).toBeGreaterThanOrEqual(acknowledged);
      if (snapshot !== undefined) {
        const content = await disk.until(log.snapshots.read(snapshot, 0, 1_000));
        expect([...content]).toEqual(Array.from({ length: snapshot.boundary.index }, (_, n) => n + 1));
      }
      trail += `${snapshot?.boundary.index ?? "-"}/${lastIndex} `;
    }
    const life = live(log, (written) => {
      acknowledged = written;
    });
    life.catch(() => {});
    await disk.world.run(disk.world.timeline.nowMs + chance.between(1, 40));
    kill();
  }
  return trail;
}

describe("A log with snapshots on a simulated disk", () => {
  it("comes back from crashes at any instant as a voter, with everything, and the same way for the same seed", async () => {
    const trails = new Set<string>();
    for (let seed = 1; seed <= 40; seed += 1) {
      const trail = await crashAgainAndAgain(seed);
      trails.add(trail);
      if (seed % 10 === 0) expect(await crashAgainAndAgain(seed)).toBe(trail);
    }
    expect(trails.size).toBe(40);
    expect([...trails].join()).toMatch(/[1-9]\d\/[1-9]\d/);
  });

  it("falls back to the older snapshot where the newest has rotted, and is mute where both have", async () => {
    for (const [rotten, isMute] of [
      [1, false],
      [2, true],
    ] as const) {
      const disk = new DiskUnderTest(5);
      const { log: opening, kill } = open(disk);
      let acknowledged = 0;
      live(await disk.until(opening), (written) => {
        acknowledged = written;
      }).catch(() => {});
      await disk.world.run(60_000, () => acknowledged === 11);
      kill();
      const names = disk.directory.snapshots.list().map(({ name }) => name);
      const newestFirst = names
        .filter((name) => name.endsWith(".snapshot"))
        .sort()
        .reverse();
      for (const name of newestFirst.slice(0, rotten)) disk.directory.snapshots.rot(names.indexOf(name), 18);
      const log = await disk.until(open(disk).log);
      const { standing } = log;
      if (standing.kind !== "born") throw new Error(standing.kind);
      expect(standing.restored.floor !== undefined).toBe(isMute);
      expect(standing.restored.snapshot?.boundary.index).toBe(isMute ? undefined : 5);
    }
  });

  it("keeps its log when there is no room for a snapshot", async () => {
    const disk = new DiskUnderTest(6);
    const log = await disk.until(open(disk).log);
    await disk.until(log.bear(birthOf(log.identity)));
    await disk.until(log.write(persist({ term: 1, entries: [entry(1, 1), entry(2, 1)] })));
    const configuration = { index: asIndex(0), configuration: birthOf(log.identity).configuration };
    const boundary = { index: asIndex(1), term: asTerm(1) };
    disk.temper.isFull = true;
    const error = await disk.until(
      log.snapshots.write(boundary, configuration).then(
        () => undefined,
        (reason: QuorateError) => reason,
      ),
    );
    expect([error?.code, error?.message]).toEqual(["STORAGE_FAILED", expect.stringContaining("ENOSPC")]);
    disk.temper.isFull = false;
    await disk.until(log.write(persist({ term: 1, entries: [entry(3, 1)] })));
    const writer = await disk.until(log.snapshots.write(boundary, configuration));
    await disk.until(writer.finish());
    expect(log.snapshots.kept).toHaveLength(1);
  });
});
