/** The log when its beginning is cut off: what is still known of it is what a plain array of terms says. */
import {
  asIndex,
  asTerm,
  configurationAt,
  encodeConfiguration,
  type LogState,
  newestConfiguration,
  termAt,
} from "@quorate/raft";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  configurationFor,
  createCluster,
  entriesOf,
  nodeOf,
  receive,
  turn,
} from "./cluster.ts";
import { append } from "./messages.ts";
import { takeSnapshot } from "./snapshotSteps.ts";

const names = ["a", "b", "c"];

/** `a` follows, and knows all of these entries to be committed. */
function holding(terms: readonly number[]): Cluster {
  const cluster = createCluster({ nodes: names, disks: { a: { entries: entriesOf(terms) } } });
  receive(cluster, "a", "b", append(9, [terms.length, terms.at(-1) ?? 0], [], { commit: terms.length }));
  return cluster;
}

function termsFrom(log: LogState): (number | undefined)[] {
  return Array.from({ length: log.lastIndex + 2 }, (_, index) => termAt(log, asIndex(index)));
}

describe("a log that is compacted", () => {
  it("knows the terms from its boundary on, and no others, wherever it was cut", () => {
    const rising = fc
      .array(fc.nat(2), { minLength: 1, maxLength: 20 })
      .map((steps) =>
        steps.map((_, at) => 1 + (steps.slice(0, at + 1).reduce((sum, step) => sum + step, 0) % 9)),
      );
    fc.assert(
      fc.property(rising, fc.array(fc.nat(20), { maxLength: 4 }), (unsorted, cuts) => {
        const terms = unsorted.toSorted((one, other) => one - other);
        const cluster = holding(terms);
        const { log } = nodeOf(cluster, "a").state;
        for (const cut of cuts.map((at) => Math.min(at, terms.length)).toSorted((x, y) => x - y)) {
          if (cut === 0 || cut < log.boundary.index) continue;
          takeSnapshot(cluster, "a", { index: cut });
          const expected = [0, ...terms, undefined].map((term, index) => (index < cut ? undefined : term));
          expect(termsFrom(log)).toEqual(expected);
        }
      }),
    );
  });

  it("canonical/raft#250: the configuration of a snapshot is the one at its boundary, not a newer one that is open", () => {
    const cluster = holding([1, 1, 1]);
    const { log } = nodeOf(cluster, "a").state;
    const data = encodeConfiguration(configurationFor(["a", "b", "d"]));
    const change = { term: asTerm(9), index: asIndex(4), kind: "configuration" as const, data };
    receive(cluster, "a", "b", append(9, [3, 1], [change], { commit: 3 }));
    expect(newestConfiguration(log).index).toBe(4);
    expect(configurationAt(log, asIndex(3)).index).toBe(0);
    takeSnapshot(cluster, "a", { index: 3 });
    expect(log.configurations.map(({ index }) => index)).toEqual([0, 4]);
    receive(cluster, "a", "c", append(10, [3, 1], [{ ...change, kind: "noop", term: asTerm(10) }]));
    expect(
      log.configurations.map(({ index }) => index),
      "cut off with its entry",
    ).toEqual([0]);
  });

  it("takes no snapshot that is older than its boundary", () => {
    const cluster = holding([1, 1, 1, 1]);
    const { state } = nodeOf(cluster, "a");
    takeSnapshot(cluster, "a", { index: 3 });
    const newest = state.snapshots.newest;
    const older = { ...newest!, boundary: { index: asIndex(2), term: asTerm(1) } };
    turn(cluster, "a", { kind: "snapshotTaken", header: older, compactableTo: asIndex(2) });
    expect(state.snapshots.newest).toBe(newest);
    expect(state.log.boundary.index).toBe(3);
  });
});
