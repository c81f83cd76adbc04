/**
 * The rule of opening, tried exhaustively: a short life of a node, cut at every instant, with every set of
 * its batches lost and every kind of damage to the witness, each opened by the real code.
 *
 * Two things must never happen: that an opened node votes without something that it acknowledged, and that
 * a node which only crashed is refused or mute.
 */
import { type LogStore, type MemberId, QuorateError, type RestoredState, reachesFloor } from "@quorate/raft";
import {
  MemoryBatchStore,
  MemorySlotFile,
  MemorySnapshotFiles,
  openLog,
  type SlotContents,
} from "@quorate/storage/internal";
import { describe, expect, it } from "vitest";
import {
  countingRandom,
  type DiskWrite,
  damageSlot,
  recordWrites,
  replay,
  type Stores,
  tear,
} from "./recordedDisk.ts";
import { birthOf, entry, logOf, member, nodeA, type PersistFields, persist, textOf } from "./vocabulary.ts";

/** What the node has acknowledged: the rule must never let it be forgotten. */
interface Acknowledged {
  readonly incarnation: string;
  readonly boot: number;
  readonly sequence: number;
  readonly born: boolean;
  readonly promisedTo: MemberId | undefined;
  readonly term: number;
  readonly vote: MemberId | undefined;
  readonly log: readonly string[];
}

/** The life: all writes in order, and after how many of them what was acknowledged. */
interface Life {
  readonly writes: readonly DiskWrite[];
  readonly acknowledged: readonly { readonly after: number; readonly state: Acknowledged }[];
}

class Biographer {
  readonly writes: DiskWrite[] = [];
  readonly acknowledged: { after: number; state: Acknowledged }[] = [];
  readonly batches = new MemoryBatchStore();
  private slots: SlotContents;
  private contents = this.batches.contents();
  private log: string[] = [];
  private term = 0;
  private vote: MemberId | undefined;

  async open(): Promise<LogStore> {
    const batches = new MemoryBatchStore(this.contents);
    const slots = new MemorySlotFile(this.slots);
    const recorded = recordWrites({ batches, slots }, (write) => this.writes.push(write));
    const store = await openLog({
      ...recorded,
      snapshots: new MemorySnapshotFiles(),
      nodeId: nodeA,
      random: countingRandom(),
    });
    this.afterClose = () => {
      this.contents = batches.contents();
      this.slots = slots.contents();
    };
    this.note(store);
    return store;
  }

  private afterClose: () => void = () => undefined;

  async close(store: LogStore): Promise<void> {
    await store.close();
    this.afterClose();
  }

  async write(store: LogStore, fields: PersistFields): Promise<void> {
    await store.write(persist(fields));
    if (fields.truncateFrom !== undefined) this.log = this.log.slice(0, fields.truncateFrom - 1);
    this.log = [...this.log, ...(fields.entries ?? []).map(textOf)];
    this.term = fields.term;
    this.vote = fields.vote;
    this.note(store);
  }

  note(store: LogStore): void {
    const { standing, identity, boot, sequence } = store;
    const promisedTo = standing.kind === "unborn" ? standing.promisedTo : undefined;
    const { log, term, vote } = this;
    const born = standing.kind === "born";
    const state = { incarnation: identity.incarnation, boot, sequence, born, promisedTo, term, vote, log };
    this.acknowledged.push({ after: this.writes.length, state });
  }
}

async function aLife(): Promise<Life> {
  const biographer = new Biographer();
  let store = await biographer.open();
  await store.promise(member("a", "f"));
  biographer.note(store);
  await store.bear(birthOf(store.identity));
  biographer.note(store);
  await biographer.write(store, { term: 1, vote: member("a", "f"), entries: [entry(1, 1), entry(2, 1)] });
  await biographer.write(store, { term: 2, truncateFrom: 2, entries: [entry(2, 2), entry(3, 2)] });
  await biographer.write(store, { term: 3, vote: member("b") });
  await biographer.write(store, { term: 3, vote: member("b"), truncateFrom: 3 });
  await biographer.close(store);
  store = await biographer.open();
  await biographer.write(store, { term: 4, entries: [entry(3, 4)] });
  await biographer.write(store, { term: 4, vote: member("b"), truncateFrom: 2, entries: [entry(2, 4)] });
  await biographer.close(store);
  return biographer;
}

interface Case {
  readonly life: Life;
  /** How many writes reached the disk. */
  readonly cut: number;
  /** The write after them left a torn slot. */
  readonly torn: boolean;
  readonly lostBatches: number;
  readonly witness: "whole" | "slot 0 damaged" | "slot 1 damaged" | "both damaged" | "deleted";
}

const witnessDamages = ["whole", "slot 0 damaged", "slot 1 damaged", "both damaged", "deleted"] as const;

async function diskOf({ life, cut, torn, lostBatches, witness }: Case): Promise<Stores> {
  const writes = life.writes.slice(0, cut);
  const next = life.writes[cut];
  if (torn && next?.kind === "slot") writes.push({ ...next, content: tear(next.content) });
  const { batches, slots } = await replay(writes, (batch) => (lostBatches & (1 << batch)) !== 0);
  return { batches, slots: new MemorySlotFile(damaged(slots, witness)) };
}

function damaged(slots: SlotContents, witness: Case["witness"]): SlotContents {
  if (witness === "deleted") return undefined;
  let left = slots;
  if (witness !== "whole" && witness !== "slot 1 damaged") left = damageSlot(left, 0);
  if (witness !== "whole" && witness !== "slot 0 damaged") left = damageSlot(left, 1);
  return left;
}

function* everyCase(life: Life): Generator<Case> {
  for (let cut = 0; cut <= life.writes.length; cut += 1) {
    const batches = life.writes.slice(0, cut).filter((write) => write.kind === "batch").length;
    const mayTear = life.writes[cut]?.kind === "slot" ? [false, true] : [false];
    for (const torn of mayTear) {
      for (let lostBatches = 0; lostBatches < 1 << batches; lostBatches += 1) {
        for (const witness of witnessDamages) {
          // Without a good slot the batches do not matter, as long as there are any, or none.
          const hopeless = witness === "both damaged" || witness === "deleted";
          if (hopeless && lostBatches !== 0 && lostBatches !== (1 << batches) - 1) continue;
          yield { life, cut, torn, lostBatches, witness };
        }
      }
    }
  }
}

type Ending = "voter" | "mute" | "lost" | "unborn" | "anew" | "refused";

/** Opens what a case left, and checks that whatever came of it is allowed. */
async function judged(one: Case, stores: Stores): Promise<Ending> {
  const { life, cut } = one;
  const acknowledged = life.acknowledged.findLast(({ after }) => after <= cut)?.state;
  const underWay = life.acknowledged.find(({ after }) => after > cut)?.state;
  const onlyCrashed = one.lostBatches === 0 && one.witness === "whole";
  let store: LogStore;
  try {
    const snapshots = new MemorySnapshotFiles();
    store = await openLog({ ...stores, snapshots, nodeId: nodeA, random: countingRandom(1000) });
  } catch (error) {
    if (!(error instanceof QuorateError) || error.code !== "DATA_LOST") throw error;
    if (onlyCrashed) throw new Error(`a false refusal: ${error.message}`);
    return "refused";
  }
  const ending = await endingOf(store, acknowledged, underWay);
  if (
    onlyCrashed &&
    acknowledged !== undefined &&
    (ending === "mute" || ending === "lost" || ending === "anew")
  ) {
    throw new Error(`a node that only crashed is ${ending}`);
  }
  await store.close();
  return ending;
}

async function endingOf(
  store: LogStore,
  acknowledged: Acknowledged | undefined,
  underWay: Acknowledged | undefined,
): Promise<Ending> {
  const { standing } = store;
  if (acknowledged === undefined)
    return standing.kind === "unborn" || standing.kind === "lost" ? "unborn" : "voter";
  if (store.identity.incarnation !== acknowledged.incarnation) return "anew";
  must(store.boot > acknowledged.boot, "boot rises");
  must(store.sequence > acknowledged.sequence, "the sequence rises");
  if (standing.kind === "unborn") {
    must(!acknowledged.born, "a member stays a member");
    const { promisedTo } = acknowledged;
    must(promisedTo === undefined || standing.promisedTo === promisedTo, "a promise is kept");
    return "unborn";
  }
  const restored = standing.kind === "born" ? standing.restored : await store.bear(birthOf(store.identity));
  const ending = await standingOf(store, restored, [acknowledged, underWay]);
  return standing.kind === "lost" && ending === "mute" ? "lost" : ending;
}

async function standingOf(
  store: LogStore,
  restored: RestoredState,
  allowed: readonly (Acknowledged | undefined)[],
): Promise<Ending> {
  const [acknowledged] = allowed;
  const { term, vote, floor, lastIndex, termRuns } = restored;
  const hard = allowed.some((state) => state !== undefined && state.term === term && state.vote === vote);
  must(hard || term > acknowledged!.term, `hard state is kept: ${term}, ${vote}`);
  const lastTerm = termRuns.at(-1)?.term ?? restored.boundary.term;
  const log = await logOf(store, lastIndex);
  must(log.length === lastIndex, "the log has no hole");
  if (floor !== undefined && !reachesFloor(floor, lastIndex, lastTerm)) {
    const named = allowed.some((state) => state !== undefined && floor.lastIndex >= state.log.length);
    must(named, "the floor is not below what was written");
    return "mute";
  }
  const whole = allowed.some((state) => state !== undefined && state.log.join() === log.join());
  must(whole, `a voter has everything: ${log.join(", ")}`);
  return "voter";
}

function must(condition: boolean, sentence: string): void {
  if (!condition) throw new Error(`not so: ${sentence}`);
}

function describeCase({ cut, torn, lostBatches, witness }: Case): string {
  return `cut after ${cut} writes${torn ? ", the next torn" : ""}, lost ${lostBatches.toString(2)}, witness ${witness}`;
}

async function checked(one: Case, stores: Stores): Promise<Ending> {
  try {
    return await judged(one, stores);
  } catch (error) {
    throw new Error(`${describeCase(one)}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

describe("The rule of opening", () => {
  it("never lets a loss pass, and never refuses a node that only crashed, whatever was cut, torn or lost", async () => {
    const life = await aLife();
    const endings = new Map<Ending, number>();
    for (const one of everyCase(life)) {
      const ending = await checked(one, await diskOf(one));
      endings.set(ending, (endings.get(ending) ?? 0) + 1);
    }
    for (const ending of ["voter", "mute", "lost", "unborn", "anew", "refused"] as const) {
      expect(endings.get(ending) ?? 0, `no case ended ${ending}`).toBeGreaterThan(0);
    }
  }, 180_000);

  it("holds as well when the opening itself is cut at any instant, again and again", async () => {
    const life = await aLife();
    for (const one of everyCase(life)) {
      const isRange = /^0*1*0*$/.test(one.lostBatches.toString(2));
      if (!isRange || (one.witness !== "whole" && one.lostBatches !== 0)) continue;
      await openingsCutShort(one, one.lostBatches === 0 ? 2 : 1);
    }
  });
});

/** Cuts the opening of a case after each of its writes, then opens what is left, `depth` crashes deep. */
async function openingsCutShort(one: Case, depth: number): Promise<void> {
  const disk = await diskOf(one);
  const slots = await disk.slots.read();
  const contents = (disk.batches as MemoryBatchStore).contents();
  await cutShort(one, contents, slots, depth);
}

async function cutShort(
  one: Case,
  contents: ReturnType<MemoryBatchStore["contents"]>,
  slots: SlotContents,
  depth: number,
): Promise<void> {
  const writes: DiskWrite[] = [];
  const stores = { batches: new MemoryBatchStore(contents), slots: new MemorySlotFile(slots) };
  const recorded = recordWrites(stores, (write) => writes.push(write));
  await checked(one, recorded);
  if (depth === 0) return;
  const batches = new MemoryBatchStore(contents);
  const witness = new MemorySlotFile(slots);
  for (const write of writes) {
    if (write.kind === "slot") {
      const torn = new MemorySlotFile(witness.contents());
      await torn.write(write.slot, tear(write.content));
      await cutShort(one, batches.contents(), torn.contents(), depth - 1);
      await witness.write(write.slot, write.content);
    } else {
      await batches.write(write.operations);
    }
    await cutShort(one, batches.contents(), witness.contents(), depth - 1);
  }
}
