/** Bugs of linearizable reads, from the leader's rounds to the server that answers. */
import { inFile, type Mutant, type Search } from "../mutant.ts";

const core = "packages/raft/src/core";
const reads = inFile("test/core/reads.test.ts");

const raft = { kind: "seeds", layer: "raft", nodes: 5, durationMs: 6_000 } as const;
const as: Search["as"] = ["linearizable reads"];

export const linearizableReads: readonly Mutant[] = [
  {
    name: "a read is answered without asking a quorum",
    source: "etcd#741, Consul 2014, d-engine#381",
    file: `${core}/reads.ts`,
    find: "if (!hasQuorum(configurationOf(state.log), answered)) return;",
    replace: "if (!hasQuorum(configurationOf(state.log), () => answered.length > 0)) return;",
    killedBy: inFile("test/scenarios/scenarios.test.ts")(
      "d-engine#381: an index that is applied already is not served before a quorum has answered",
    ),
    search: { ...raft, profile: "partitions", as },
  },
  {
    name: "an answer to an older read token confirms a newer read",
    source: "etcd#20418",
    file: `${core}/reads.ts`,
    find: "(leading.peers.get(id)?.token ?? 0) >= round.token;",
    replace: "(leading.peers.get(id)?.token ?? 0) >= round.token - 1;",
    killedBy: reads(
      "late and doubled answers to one round never confirm a read that came after it (etcd#20418)",
    ),
    search: { ...raft, profile: "partitions", as },
  },
  {
    name: "all reads of a term share one token",
    source: "etcd-io/raft#397",
    file: `${core}/reads.ts`,
    find: "leading.token += 1;",
    replace: "leading.token = 1;",
    killedBy: reads("shares its round with all reads of the turn; later ones form the next round"),
    search: { ...raft, profile: "partitions", as },
  },
  {
    name: "a new leader answers reads before it has committed in its term",
    source: "etcd#7331, tikv#9239, redisraft#18",
    file: `${core}/reads.ts`,
    find: "if (state.commitIndex < leading.noopIndex) return;",
    replace: "if (state.commitIndex < 0) return;",
    killedBy: inFile("test/scenarios/scenarios.test.ts")(
      "redisraft#18: after a restart of all nodes no read is served before the new term commits",
    ),
    search: { ...raft, profile: "crashes", as },
  },
  {
    name: "a read is served before its index is applied",
    source: "the dissertation, §6.4",
    file: "packages/raft/src/node/waiters.ts",
    find: "if (index <= appliedIndex) waiter.resolve(point);",
    replace: "if (index >= 0 || index <= appliedIndex) waiter.resolve(point);",
    killedBy: inFile("test/node/waiters.test.ts")("of a read resolves only when its index was applied"),
    search: { ...raft, as },
  },
  {
    name: "the server reads what it has, and asks no leader",
    source: "etcd#741",
    file: "packages/kv/src/server/readBatch.ts",
    find: "const point = this.#node.readIndex();",
    replace: "const point = Promise.resolve({ index: 0, term: 0, asLeader: true } as unknown as ReadPoint);",
    killedBy: inFile("test/kv/clientServer.test.ts")(
      "show what was applied when the read index was confirmed, not what was when they were asked",
    ),
    search: { kind: "seeds", layer: "store", nodes: 3, durationMs: 4_000, as },
  },
  {
    name: "a read shares the index that a turn before it has asked for",
    source: "etcd#20418, in the runtime",
    file: "packages/raft/src/node/coreDriver.ts",
    find: "    this.#nextRead = undefined;\n",
    replace: "",
    killedBy: inFile("test/node/driverTurns.test.ts")(
      "shares one read index among those that ask before its turn, and with nobody who comes later",
    ),
    search: { kind: "seeds", layer: "store", nodes: 3, durationMs: 4_000, profile: "partitions", as },
  },
];
