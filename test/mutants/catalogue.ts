/**
 * Bugs put in on purpose, each with what must find it: proof that the tests can fail.
 *
 * `find` matches exactly once in `file`. The product has no switch: the text is replaced while a test loads it
 * (loadMutated.ts). A mutant that survives fails the build.
 */
import type { InvariantName, SimulationOptions } from "@quorate/sim";
import type { Patch } from "./loadMutated.ts";

export interface Mutant extends Patch {
  readonly name: string;
  readonly killedBy: Killer;
  /** The violation that it must be found by; any of these. */
  readonly as: readonly InvariantName[];
}

export type Killer =
  /** A kept seed: found once by a search, and replayed ever since. */
  | ({ readonly kind: "seed" } & SimulationOptions)
  | { readonly kind: "scenario"; readonly scenario: "pausedLeader"; readonly layer: "raft" | "store" };

const core = "packages/raft/src/core";

export const mutants: readonly Mutant[] = [
  {
    name: "the vote is not persisted",
    file: `${core}/disk.ts`,
    find: "    term,\n    vote,\n    floor,\n    truncateFrom: disk.truncateFrom,",
    replace: "    term,\n    vote: undefined,\n    floor,\n    truncateFrom: disk.truncateFrom,",
    killedBy: { kind: "seed", seed: 1, nodes: 3, layer: "raft", durationMs: 2_000 },
    as: ["persisted before sent", "one vote per term"],
  },
  {
    name: "a vote leaves before it is durable",
    file: `${core}/outbox.ts`,
    find: 'return message.kind === "voteRequest" || (message.kind === "voteResponse" && message.granted);',
    replace: "return message.term < 0;",
    killedBy: { kind: "seed", seed: 4, nodes: 5, layer: "raft", durationMs: 4_000 },
    as: ["persisted before sent"],
  },
  {
    name: "an entry of an older term commits by counting",
    file: `${core}/commit.ts`,
    find: "if (index <= state.commitIndex || termAt(state.log, index) !== state.currentTerm) return;",
    replace: "if (index <= state.commitIndex || termAt(state.log, index) === undefined) return;",
    killedBy: { kind: "seed", seed: 3, nodes: 5, layer: "raft", durationMs: 4_000 },
    as: ["commit rule"],
  },
  {
    name: "an append is acknowledged before its sync",
    file: `${core}/follower.ts`,
    find: "const matchIndex = asIndex(Math.min(following.verified, disk.durableIndex));",
    replace: "const matchIndex = following.verified;",
    killedBy: { kind: "seed", seed: 1, nodes: 3, layer: "raft", durationMs: 2_000 },
    as: ["persisted before sent"],
  },
  {
    name: "every append truncates what follows it, below the commit index too",
    file: `${core}/follower.ts`,
    find: `  while (at < entries.length && isHeld(state, entries[at]!)) at += 1;
  const first = entries[at];
  if (first === undefined) return;
  if (first.index <= log.lastIndex) {
    invariant(first.index > commitIndex, `,
    replace: `  const first = entries[at];
  if (first === undefined) return;
  if (first.index <= log.lastIndex) {
    invariant(commitIndex >= 0 || isHeld(state, first), `,
    killedBy: { kind: "seed", seed: 1, nodes: 3, layer: "raft", durationMs: 4_000 },
    // A cut below the commit index is noticed at once; the core's own invariants may come first, and stop the node.
    as: ["commit agreement", "index order", "no unexpected stop"],
  },
  {
    name: "an answer to an older read token confirms a newer read",
    file: `${core}/reads.ts`,
    find: "(leading.peers.get(id)?.token ?? 0) >= round.token;",
    replace: "(leading.peers.get(id)?.token ?? 0) >= round.token - 1;",
    killedBy: { kind: "scenario", scenario: "pausedLeader", layer: "raft" },
    as: ["linearizable reads"],
  },
  {
    name: "the log store does not wait for its batch",
    file: "packages/storage/src/log/witness.ts",
    find: 'await batches.write([...operations, { kind: "put", key: recordKey, value }]);',
    replace: 'batches.write([...operations, { kind: "put", key: recordKey, value }]).catch(() => {});',
    killedBy: { kind: "seed", seed: 1, nodes: 3, layer: "raft", durationMs: 4_000 },
    as: ["durability", "no false refusal", "no unexpected stop", "terms only rise"],
  },
];
