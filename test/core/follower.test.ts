/**
 * What a follower takes from appends and heartbeats: truncation, commit bounds, hints, and its log against an
 * array.
 */
import {
  asIndex,
  asTerm,
  cachedEntries,
  configurationOf,
  type Entry,
  encodeConfiguration,
  entryOverheadBytes,
  firstCachedIndex,
  InvariantError,
  lastTerm,
  termAt,
} from "@quorate/raft";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bytes,
  type Cluster,
  configurationFor,
  createCluster,
  entriesOf,
  finishWrite,
  idOf,
  nodeOf,
  receive,
  turn,
} from "./cluster.ts";
import { append, entriesAfter, heartbeat, matched, rejected } from "./messages.ts";
import { commitOf, queued, termsOf } from "./views.ts";

function follower(terms: readonly number[], more: { commit?: number; term?: number } = {}): Cluster {
  const cluster = createCluster({ nodes: ["a", "b", "c"], disks: { a: { entries: entriesOf(terms) } } });
  const { commit = 0, term = 9 } = more;
  const last = terms.length;
  if (commit > 0) receive(cluster, "a", "b", append(term, [last, terms.at(-1)!], [], { commit }));
  expect(commitOf(cluster, "a")).toBe(commit);
  cluster.queue = [];
  return cluster;
}

function answers(cluster: Cluster): unknown[] {
  return queued(cluster, "appendResponse");
}

describe("below the commit index", () => {
  it("an append is an ack, not a conflict, whatever it says of its previous entry (openraft#511 lost data)", () => {
    const cluster = follower([1, 1, 2, 2], { commit: 3 });
    receive(cluster, "a", "b", append(9, [1, 7], []));
    receive(cluster, "a", "b", append(9, [2, 1], entriesAfter(2, [2])));
    expect(answers(cluster)).toEqual([matched(9, 4), matched(9, 4)]);
    expect(termsOf(nodeOf(cluster, "a"))).toEqual([1, 1, 2, 2]);
  });

  it("it acknowledges what is committed and durable, in a session that has verified nothing else", () => {
    const cluster = follower([1, 1, 2, 2], { commit: 3 });
    receive(cluster, "a", "b", append(9, [1, 1], [], { session: 2 }));
    expect(answers(cluster)).toEqual([matched(9, 3, 2)]);
  });

  it("nothing is ever cut: a leader that asks for it has broken Raft, and the node stops", () => {
    const cluster = follower([1, 1, 2, 2], { commit: 3 });
    expect(() => receive(cluster, "a", "b", append(9, [1, 1], entriesAfter(1, [3])))).toThrow(InvariantError);
  });

  it("entries of such an append that reach beyond it are taken", () => {
    const cluster = follower([1, 1, 2, 2], { commit: 3 });
    receive(cluster, "a", "b", append(9, [1, 1], entriesAfter(1, [1, 2, 5, 5])));
    expect(termsOf(nodeOf(cluster, "a"))).toEqual([1, 1, 2, 5, 5]);
    expect(answers(cluster).at(-1)).toEqual(matched(9, 5));
  });
});

describe("truncation", () => {
  it("begins at the first entry that conflicts, and not where an old append ends", () => {
    const cluster = follower([1, 1, 1, 1]);
    receive(cluster, "a", "b", append(9, [0, 0], entriesAfter(0, [1, 1])));
    expect(termsOf(nodeOf(cluster, "a")), "the rest may be newer").toEqual([1, 1, 1, 1]);
    receive(cluster, "a", "b", append(9, [1, 1], entriesAfter(1, [1, 9])));
    expect(termsOf(nodeOf(cluster, "a"))).toEqual([1, 1, 9]);
  });

  it("takes back the configuration that a cut entry had set", () => {
    const cluster = follower([1]);
    const { state } = nodeOf(cluster, "a");
    const newer = configurationFor(["a", "b", "d"]);
    const entry: Entry = {
      term: asTerm(2),
      index: asIndex(2),
      kind: "configuration",
      data: encodeConfiguration(newer),
    };
    receive(cluster, "a", "b", append(2, [1, 1], [entry]));
    expect(configurationOf(state.log), "in force as soon as it is in the log").toEqual(newer);
    receive(cluster, "a", "c", append(3, [1, 1], entriesAfter(1, [3])));
    expect(configurationOf(state.log)).toEqual(configurationFor(["a", "b", "c"]));
  });

  it("a configuration that nobody understands stops the node", () => {
    const cluster = follower([1]);
    const entry: Entry = { term: asTerm(2), index: asIndex(2), kind: "configuration", data: bytes("?") };
    expect(() => receive(cluster, "a", "b", append(2, [1, 1], [entry]))).toThrow(InvariantError);
  });
});

describe("the commit index of a follower", () => {
  it("is at most what the append itself has verified (CCF#8172)", () => {
    const table: [prev: [number, number], entries: number[], commit: number, expected: number][] = [
      [[1, 1], [], 4, 1],
      [[1, 1], [1], 4, 2],
      [[2, 1], [2], 3, 3],
      [[2, 1], [2, 5], 4, 4],
      [[4, 2], [], 2, 2],
      [[4, 2], [5], 9, 5],
    ];
    for (const [prev, entries, commit, expected] of table) {
      const cluster = follower([1, 1, 2, 2]);
      receive(cluster, "a", "b", append(9, prev, entriesAfter(prev[0], entries), { commit }));
      expect(commitOf(cluster, "a"), `${prev} + ${entries}`).toBe(expected);
    }
  });

  it("rises by a heartbeat only to what this session verified; more makes it ask to be probed", () => {
    const cluster = follower([1, 1, 2, 2]);
    receive(cluster, "a", "b", append(9, [2, 1], []));
    cluster.queue = [];
    receive(cluster, "a", "b", heartbeat(9, { commit: 2 }));
    expect(commitOf(cluster, "a")).toBe(2);
    expect(answers(cluster)).toEqual([]);
    receive(cluster, "a", "b", heartbeat(9, { commit: 4 }));
    expect(commitOf(cluster, "a")).toBe(2);
    expect(answers(cluster)).toEqual([rejected(9, 4, [4, 2])]);
    receive(cluster, "a", "b", heartbeat(9, { commit: 2, session: 2 }));
    expect(answers(cluster), "what is committed needs no probe").toHaveLength(1);
  });

  it("never goes beyond the log, though the leader says so to one that lost its entries (etcd#13509)", () => {
    const cluster = follower([]);
    receive(cluster, "a", "b", heartbeat(9, { commit: 50 }));
    expect(commitOf(cluster, "a")).toBe(0);
    expect(answers(cluster)).toEqual([rejected(9, 50, [0, 0])]);
  });

  it("never falls", () => {
    const cluster = follower([1, 1, 2, 2], { commit: 3 });
    receive(cluster, "a", "b", append(9, [4, 2], [], { commit: 1 }));
    receive(cluster, "a", "b", heartbeat(9, { commit: 2 }));
    expect(commitOf(cluster, "a")).toBe(3);
  });
});

describe("what is no append", () => {
  it("gets no answer and changes nothing", () => {
    const [first, second] = entriesAfter(1, [2, 3]);
    const bad = [
      [second!],
      [first!, first!],
      [first!, { ...second!, term: asTerm(1) }],
      [{ ...first!, term: asTerm(0) }],
      [{ ...first!, term: asTerm(10) }],
    ];
    for (const entries of bad) {
      const cluster = follower([1]);
      receive(cluster, "a", "b", append(9, [1, 1], entries));
      expect(answers(cluster)).toEqual([]);
      expect(termsOf(nodeOf(cluster, "a"))).toEqual([1]);
    }
  });

  it("a second leader in one term stops the node: nothing can be trusted any more", () => {
    const cluster = follower([1]);
    receive(cluster, "a", "b", heartbeat(9));
    expect(() => receive(cluster, "a", "c", heartbeat(9))).toThrow(InvariantError);
  });

  it("a message from oneself is nobody's", () => {
    const cluster = follower([1]);
    expect(receive(cluster, "a", "a", heartbeat(9)).send).toEqual([]);
  });

  it("only what is committed can have been applied", () => {
    const cluster = follower([1, 1], { commit: 1 });
    expect(() => turn(cluster, "a", { kind: "applied", upTo: asIndex(2) })).toThrow(InvariantError);
  });
});

interface Step {
  readonly prev: number;
  readonly newTerm: boolean;
  readonly lengths: readonly number[];
  readonly commit: boolean;
  readonly slow: boolean;
}

const aStep: fc.Arbitrary<Step> = fc.record({
  prev: fc.nat(30),
  newTerm: fc.boolean(),
  lengths: fc.array(fc.nat(3), { minLength: 0, maxLength: 4 }),
  commit: fc.boolean(),
  slow: fc.boolean(),
});

/**
 * The plain model: the log is an array, a leader of each term cuts it where it likes above the commit index.
 */
function applyStep(cluster: Cluster, model: Entry[], at: { term: number; commit: number }, next: Step): void {
  const { state } = nodeOf(cluster, "a");
  const prev = Math.min(model.length, Math.max(at.commit, next.newTerm ? next.prev : model.length));
  if (next.newTerm) at.term += 1;
  const entries = next.lengths.map((length, offset) => ({
    term: asTerm(at.term),
    index: asIndex(prev + 1 + offset),
    kind: "command" as const,
    data: new Uint8Array(length),
  }));
  if (entries.length > 0) model.splice(prev, model.length, ...entries);
  const end = prev + entries.length;
  if (next.commit) at.commit = Math.max(at.commit, end);
  const prevTerm = prev === 0 ? 0 : model[prev - 1]!.term;
  const commit = next.commit ? at.commit : 0;
  receive(cluster, "a", `leader${at.term}`, append(at.term, [prev, prevTerm], entries, { commit }));
  if (!next.slow && nodeOf(cluster, "a").writing !== undefined) finishWrite(cluster, "a");
  expect(state.commitIndex).toBe(at.commit);
}

describe("the log", () => {
  it("is what a plain array would be, whatever is appended and cut, and so is the disk in the end", () => {
    const maxCachedBytes = fc.constantFrom(0, entryOverheadBytes + 3, 10_000);
    fc.assert(
      fc.property(maxCachedBytes, fc.array(aStep, { minLength: 0, maxLength: 25 }), (cached, steps) => {
        const core = { maxCachedBytes: cached, maxUncommittedBytes: 1 };
        const cluster = createCluster({ nodes: ["a", "b", "c"], core });
        cluster.slowDisks.add("a");
        const node = nodeOf(cluster, "a");
        const model: Entry[] = [];
        const at = { term: 1, commit: 0 };
        for (const next of steps) {
          applyStep(cluster, model, at, next);
          const { log, disk } = node.state;
          expect(log.lastIndex).toBe(model.length);
          expect(lastTerm(log)).toBe(model.at(-1)?.term ?? 0);
          expect(termsOf(node)).toEqual(model.map(({ term }) => term));
          for (let index = 0; index <= model.length + 1; index += 1) {
            const expected = index === 0 ? 0 : model[index - 1]?.term;
            expect(termAt(log, asIndex(index))).toBe(expected);
          }
          const first = firstCachedIndex(log);
          expect(first).toBeLessThanOrEqual(Math.min(disk.durableIndex, node.state.commitIndex) + 1);
          const held = cachedEntries(node.state, first, log.lastIndex, Number.POSITIVE_INFINITY);
          expect(held).toEqual(model.slice(first - 1));
          expect(log.tailBytes).toBe(
            held!.reduce((sum, { data }) => sum + entryOverheadBytes + data.length, 0),
          );
          expect(log.tail.filter((each) => each !== undefined)).toEqual(held);
          if (first > 1)
            expect(cachedEntries(node.state, asIndex(first - 1), log.lastIndex, 9)).toBeUndefined();
        }
        while (node.writing !== undefined) finishWrite(cluster, "a");
        expect(node.disk.entries).toEqual(model);
        expect(node.state.disk.durableIndex).toBe(model.length);
      }),
    );
  });

  it("hands out entries by count and by bytes, at least one", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    const { state } = nodeOf(cluster, "a");
    const entries = entriesOf([1, 1, 1, 1]); // four entries of three bytes
    receive(cluster, "a", "b", append(1, [0, 0], entries));
    const get = (from: number, to: number, most: number): number[] =>
      cachedEntries(state, asIndex(from), asIndex(to), most)!.map(({ index }) => index);
    expect(get(1, 4, 6)).toEqual([1, 2]);
    expect(get(1, 4, 8)).toEqual([1, 2]);
    expect(get(1, 4, 0)).toEqual([1]);
    expect(get(2, 3, 99)).toEqual([2, 3]);
    expect(get(3, 9, 99)).toEqual([3, 4]);
    expect(get(5, 9, 99)).toEqual([]);
    expect(get(3, 2, 99)).toEqual([]);
    expect(cachedEntries(state, asIndex(1), asIndex(1), 9)![0]).toBe(entries[0]);
  });

  it("lets go of old entries without growing for ever", () => {
    const cluster = createCluster({ nodes: ["a"], core: { maxCachedBytes: 2_000 } });
    turn(cluster, "a", { kind: "tick" });
    const { log } = nodeOf(cluster, "a").state;
    for (let id = 0; id < 20_000; id += 1) {
      turn(cluster, "a", { kind: "proposed", id, entry: "command", data: new Uint8Array(1) });
    }
    expect(nodeOf(cluster, "a").id).toBe(idOf("a"));
    expect(log.lastIndex).toBe(20_001);
    expect(log.tailBytes).toBeLessThanOrEqual(2_000);
    expect(log.tail.length).toBeLessThan(3000);
    // What it let go of is not in memory any more, though its place in the list is.
    expect(log.tail.filter((each) => each !== undefined)).toHaveLength(
      Math.floor(2_000 / (entryOverheadBytes + 1)),
    );
  });
});
