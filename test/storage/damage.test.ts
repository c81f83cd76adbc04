/**
 * Real directories, damaged in every way that files are damaged. Each time the node either starts with
 * everything that it acknowledged, or stays mute below a floor, or refuses in words; and `examine` says so
 * beforehand, without changing anything.
 */
import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type LogStore, QuorateError, type RestoredState } from "@quorate/raft";
import { examine, openDirectory, type Prognosis } from "@quorate/storage";
import { beforeAll, describe, expect, it } from "vitest";
import { countingRandom } from "./recordedDisk.ts";
import { copyOf, filesEnding, fingerprint, flipByte, temporaryDirectory } from "./temporaryDirectory.ts";
import { birthOf, entry, logOf, member, nodeA, nodeB, persist } from "./vocabulary.ts";

/**
 * A node with entries 1 to 60, 30 of them in an `.ldb` file, the rest and its last vote in the `.log` file.
 */
interface Subject {
  readonly directory: string;
  readonly incarnation: string;
  readonly log: readonly string[];
}

const lastIndex = 60;
const lastTerm = 7;
const lastVote = member("b");

async function open(directory: string): Promise<LogStore> {
  return openDirectory(directory, { nodeId: nodeA, random: countingRandom(500) });
}

async function writeEntries(store: LogStore, from: number, to: number, term: number): Promise<void> {
  for (let index = from; index <= to; index += 1) {
    await store.write(
      persist({ term, vote: lastVote, entries: [entry(index, term, `value ${index} `.repeat(20))] }),
    );
  }
}

async function makeSubject(directory: string, seed = 1): Promise<Subject> {
  let store = await openDirectory(directory, { nodeId: nodeA, random: countingRandom(seed) });
  await store.bear(birthOf(store.identity));
  await writeEntries(store, 1, 30, 3);
  await store.close();
  store = await open(directory);
  await writeEntries(store, 31, lastIndex, 6);
  await store.write(persist({ term: lastTerm, vote: lastVote }));
  const log = await logOf(store, lastIndex);
  await store.close();
  return { directory, incarnation: store.identity.incarnation, log };
}

let subject: Subject;

beforeAll(async () => {
  const { mkdtempSync } = await import("node:fs");
  const { tmpdir } = await import("node:os");
  subject = await makeSubject(mkdtempSync(join(tmpdir(), "quorate-storage-")));
  return () => rmSync(subject.directory, { recursive: true });
});

/** Damages a copy, examines it, opens it, checks that nothing passed in silence, and says how it ended. */
async function endingAfter(damage: (directory: string) => void): Promise<Prognosis> {
  const directory = copyOf(subject.directory);
  damage(directory);
  const before = fingerprint(directory);
  const { prognosis, verdict } = await examine(directory);
  expect(fingerprint(directory), "an examination changes nothing").toBe(before);
  const ending = await endingOf(directory);
  expect(prognosis, verdict).toBe(ending);
  return ending;
}

async function endingOf(directory: string): Promise<Prognosis> {
  let store: LogStore;
  try {
    store = await open(directory);
  } catch (error) {
    expect(error).toBeInstanceOf(QuorateError);
    expect(error).toMatchObject({ code: "DATA_LOST" });
    expect((error as Error).message).toContain("stays out");
    return "refused";
  }
  try {
    const { standing, identity } = store;
    if (identity.incarnation !== subject.incarnation) return "new";
    const lost = standing.kind === "lost";
    const restored = standing.kind === "born" ? standing.restored : await store.bear(birthOf(identity));
    const mute = await isMute(store, restored);
    return lost ? "lost" : mute ? "mute" : "voter";
  } finally {
    await store.close();
  }
}

async function isMute(store: LogStore, restored: RestoredState): Promise<boolean> {
  expect([restored.term, restored.vote], "hard state is kept").toEqual([lastTerm, lastVote]);
  const log = await logOf(store, restored.lastIndex);
  expect(log).toEqual(subject.log.slice(0, log.length));
  if (log.length === subject.log.length) return false;
  expect(restored.floor).toEqual({ lastIndex, lastTerm: 6 });
  return true;
}

function theLog(directory: string): string {
  const [path] = filesEnding(join(directory, "log"), ".log");
  return path!;
}

function someTable(directory: string): string {
  const path = filesEnding(join(directory, "log"), ".ldb").at(-1);
  return path!;
}

function places(path: string, count: number): readonly number[] {
  const { length } = readFileSync(path);
  return Array.from({ length: count }, (_, at) => Math.floor((at * length) / count));
}

async function tally(damages: readonly ((directory: string) => void)[]): Promise<Map<Prognosis, number>> {
  const endings = new Map<Prognosis, number>();
  for (const damage of damages) {
    const ending = await endingAfter(damage);
    endings.set(ending, (endings.get(ending) ?? 0) + 1);
  }
  return endings;
}

describe("A data directory whose database is damaged", () => {
  it("is a voter's when nothing was damaged", async () => {
    expect(await endingAfter(() => undefined)).toBe("voter");
  });

  it("is noticed when one byte of the .log file is flipped, wherever", async () => {
    const damages = places(theLog(subject.directory), 12).map(
      (at) => (directory: string) => flipByte(theLog(directory), at),
    );
    const endings = await tally(damages);
    expect(endings.get("mute")).toBeGreaterThan(5);
  });

  it("is noticed when the .log file is cut short, wherever", async () => {
    const damages = places(theLog(subject.directory), 6).map(
      (at) => (directory: string) => truncateSync(theLog(directory), at),
    );
    expect(await tally(damages)).toEqual(new Map([["mute", 6]]));
  });

  it("is noticed when the .log file is deleted", async () => {
    expect(await endingAfter((directory) => rmSync(theLog(directory)))).toBe("mute");
  });

  it("is noticed when one byte of an .ldb file is flipped, unless nothing is wrong with what it holds", async () => {
    const damages = places(someTable(subject.directory), 12).map(
      (at) => (directory: string) => flipByte(someTable(directory), at),
    );
    const endings = await tally(damages);
    expect(endings.get("voter") ?? 0).toBeLessThan(12);
  });

  it("is noticed when the .ldb files are deleted", async () => {
    const removeTables = (directory: string): void => {
      for (const path of filesEnding(join(directory, "log"), ".ldb")) rmSync(path);
    };
    expect(await endingAfter(removeTables)).toBe("refused");
  });

  it("is noticed when CURRENT or the manifest is damaged or deleted", async () => {
    const [manifest = ""] = filesEnding(join(subject.directory, "log"), "").filter((path) =>
      path.includes("MANIFEST"),
    );
    const inCopy = (directory: string): string => join(directory, "log", manifest.split("/").at(-1)!);
    const endings = await tally([
      (directory) => writeFileSync(join(directory, "log", "CURRENT"), "nonsense\n"),
      (directory) => rmSync(inCopy(directory)),
      (directory) => flipByte(inCopy(directory), 20),
      (directory) => truncateSync(inCopy(directory), 0),
    ]);
    expect(endings.get("voter") ?? 0).toBe(0);
  });

  it("comes back without votes, its hard state from the witness, when the whole database is gone", async () => {
    const ending = await endingAfter((directory) => rmSync(join(directory, "log"), { recursive: true }));
    expect(ending).toBe("lost");
    const current = await endingAfter((directory) => rmSync(join(directory, "log", "CURRENT")));
    expect(current).toBe("lost");
  });
});

describe("A data directory whose witness is damaged", () => {
  const slotMiddle = (slot: number): number => slot * 4096 + 60;

  it("loses nothing by one flipped byte, since each slot holds its record twice", async () => {
    const damages = [0, 1, 0.5, 1.5].map(
      (slot) => (directory: string) => flipByte(join(directory, "witness"), slotMiddle(slot)),
    );
    expect(await tally(damages)).toEqual(new Map([["voter", 4]]));
  });

  it("is refused when the older slot is damaged: the database cannot show that it was not the newer one", async () => {
    const { sequence } = await examine(subject.directory);
    const [zero = 0, one = 0] = sequence.slots ?? [];
    const [older, newer] = zero < one ? [0, 1] : [1, 0];
    expect(await endingAfter((directory) => damageWholeSlot(join(directory, "witness"), older))).toBe(
      "refused",
    );
    expect(await endingAfter((directory) => damageWholeSlot(join(directory, "witness"), newer))).toBe(
      "voter",
    );
  });

  it("is refused when both slots are damaged, the file is cut, emptied or deleted", async () => {
    const witness = (directory: string): string => join(directory, "witness");
    const endings = await tally([
      (directory) => {
        damageWholeSlot(witness(directory), 0);
        damageWholeSlot(witness(directory), 1);
      },
      (directory) => truncateSync(witness(directory), 4096),
      (directory) => truncateSync(witness(directory), 0),
      (directory) => rmSync(witness(directory)),
      (directory) => {
        rmSync(join(directory, "log"), { recursive: true });
        truncateSync(witness(directory), 0);
      },
    ]);
    expect(endings).toEqual(new Map([["refused", 5]]));
  });

  it("does not mind damage where a slot holds nothing", async () => {
    expect(await endingAfter((directory) => flipByte(join(directory, "witness"), 4000))).toBe("voter");
  });

  it("is a voter's with an older witness beside a whole database, which alone has everything", async () => {
    const older = copyOf(subject.directory);
    const store = await open(subject.directory);
    await writeEntries(store, lastIndex + 1, lastIndex + 1, lastTerm);
    await store.write(persist({ term: lastTerm, vote: lastVote, truncateFrom: lastIndex + 1 }));
    await store.close();
    const ending = await endingAfter((directory) => {
      copyFileSync(join(older, "witness"), join(directory, "witness"));
    });
    expect(ending).toBe("voter");
  });
});

describe("A data directory that is not the right one", () => {
  it("writes its identity file again from the witness when that is damaged or gone", async () => {
    const damages = await tally([
      (directory) => rmSync(join(directory, "identity.json")),
      (directory) => flipByte(join(directory, "identity.json"), 0),
    ]);
    expect(damages).toEqual(new Map([["voter", 2]]));
  });

  it("opens when it was put back from an older copy: only its peers can tell, by what it shows", async () => {
    const older = copyOf(subject.directory);
    const newer = await open(subject.directory);
    const shown = newer.boot;
    await newer.close();
    const store = await open(older);
    expect(store.boot).toBeLessThanOrEqual(shown);
    await store.close();
  });

  it("is made anew, as another incarnation, when it was wiped", async () => {
    const directory = copyOf(subject.directory);
    for (const path of filesEnding(directory, "")) rmSync(path, { recursive: true });
    const store = await open(directory);
    expect(store.standing).toEqual({ kind: "unborn", promisedTo: undefined });
    expect(store.identity.incarnation).not.toBe(subject.incarnation);
    await store.close();
  });

  it("is refused untouched when it is another node's", async () => {
    const before = fingerprint(subject.directory);
    const wrong = openDirectory(subject.directory, { nodeId: nodeB, random: countingRandom() });
    await expect(wrong).rejects.toMatchObject({ code: "WRONG_DIRECTORY" });
    await expect(wrong).rejects.toThrow(/node "a".*node "b"/);
    expect(fingerprint(subject.directory)).toBe(before);
  });

  it("is refused untouched when it is of a newer format", async () => {
    const directory = copyOf(subject.directory);
    const path = join(directory, "identity.json");
    writeFileSync(path, readFileSync(path, "utf8").replace('"format": 1', '"format": 2'));
    const before = fingerprint(directory);
    await expect(open(directory)).rejects.toThrow(/format 2; this version reads up to format 1/);
    expect(fingerprint(directory)).toBe(before);
  });

  it("is refused untouched when its witness is of a newer format, before its database is opened", async () => {
    const directory = copyOf(subject.directory);
    const path = join(directory, "witness");
    const witness = readFileSync(path);
    for (const copy of [0, 2_048, 4_096, 6_144]) {
      const length = witness.readUInt32BE(copy + 4);
      const json = witness.subarray(copy + 8, copy + 8 + length);
      json.write(json.toString("utf8").replace('"format":1', '"format":9'), "utf8");
      witness.writeUInt32BE(crc32(witness.subarray(copy + 4, copy + 8 + length)), copy);
    }
    writeFileSync(path, witness);
    const before = fingerprint(directory);
    await expect(open(directory)).rejects.toMatchObject({ code: "WRONG_DIRECTORY" });
    await expect(open(directory)).rejects.toThrow(/format 9; this version reads up to format 2/);
    expect(fingerprint(directory)).toBe(before);
  });

  it("is refused when database and witness come from two directories", async () => {
    const other = await makeSubject(temporaryDirectory(), 99);
    const directory = copyOf(subject.directory);
    copyFileSync(join(other.directory, "witness"), join(directory, "witness"));
    await expect(open(directory)).rejects.toMatchObject({ code: "DATA_LOST" });
  });
});

describe("A creation that was cut short", () => {
  it("is finished or made anew, whatever it left", async () => {
    const whole = temporaryDirectory();
    const store = await open(whole);
    await store.close();
    const leftovers: readonly (readonly string[])[] = [[], ["identity.json"], ["identity.json", "witness"]];
    for (const names of leftovers) {
      const directory = temporaryDirectory();
      for (const name of names) copyFileSync(join(whole, name), join(directory, name));
      if (names.includes("witness")) rewindWitness(join(directory, "witness"));
      const again = await open(directory);
      expect(again.standing).toEqual({ kind: "unborn", promisedTo: undefined });
      expect(again.boot).toBe(1);
      await again.close();
    }
  });
});

function damageWholeSlot(path: string, slot: number): void {
  flipByte(path, slot * 4096 + 60);
  flipByte(path, slot * 4096 + 2048 + 60);
}

/** As before the first opening: slot 0 still is as it was made, and both were made equal. */
function rewindWitness(path: string): void {
  const content = readFileSync(path);
  content.copyWithin(4096, 0, 4096);
  writeFileSync(path, content);
}
