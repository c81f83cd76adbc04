/** Bugs between the core and the disk: the driver, the log store, and the rule of opening. */
import { inFile, type Mutant, type Search, unsearched } from "../mutant.ts";

const log = "packages/storage/src/log";
const logStore = inFile("test/storage/logStore.test.ts");
const openingRule = inFile("test/storage/openingRule.test.ts");
const lossRule = openingRule(
  "never lets a loss pass, and never refuses a node that only crashed, whatever was cut, torn or lost",
);

const writeOrder = inFile("test/storage/writeOrder.test.ts")(
  "begins its witness when its batch is durable, and is done when both are",
);

const raft = { kind: "seeds", layer: "raft", nodes: 3, durationMs: 4_000 } as const;
const lost: Search["as"] = ["durability", "no false refusal", "no unexpected stop", "terms only rise"];

export const disk: readonly Mutant[] = [
  {
    name: "the node reports a write before it is done",
    source: "NATS 2.12.1 (Jepsen)",
    file: "packages/raft/src/node/coreDriver.ts",
    find: "    this.#ports.log.write(persist).then(\n",
    replace: "    Promise.race([this.#ports.log.write(persist), Promise.resolve()]).then(\n",
    killedBy: inFile("test/node/coreDriver.test.ts")(
      "tells the core of a write when the log store has done it, and not before",
    ),
    search: { ...raft, as: ["persisted before sent", "commit rule"] },
  },
  {
    name: "entries are read for the machine beyond what is durable",
    source: "the simulator, seed 8213",
    file: "packages/raft/src/node/coreDriver.ts",
    find: "return asIndex(Math.min(to, this.state.disk.durableIndex));",
    replace: "return asIndex(Math.max(to, 0));",
    killedBy: inFile("test/node/coreDriver.test.ts")(
      "reads for the machine only what is durable, though more is committed",
    ),
    search: { ...raft, nodes: 5, as: ["state machine safety", "no unexpected stop"] },
  },
  {
    name: "where a portion ends, the machine gets its last entry again",
    source: "etcd 3.5's postmortem (#13766), convex#145",
    file: "packages/raft/src/node/applier.ts",
    find: "const from = asIndex(this.#appliedIndex + 1);",
    replace: "const from = asIndex(Math.max(1, this.#appliedIndex));",
    killedBy: inFile("test/kv/sameBytes.test.ts")(
      "that change keys gives the same results and the same bytes, whatever a node's options, and wherever it is restarted",
    ),
    search: { ...raft, as: ["state machine safety"] },
  },
  {
    name: "the log store does not wait for its batch",
    source: "NATS#7567; LevelDB's put without sync (robustmq#2039)",
    file: `${log}/witness.ts`,
    find: "await batches.write(all());",
    replace: "batches.write([...all()]).catch(() => {});",
    killedBy: writeOrder,
    search: { ...raft, as: lost },
  },
  {
    name: "the log store does not wait for its witness",
    source: "storage-and-wire, the order of a write",
    file: `${log}/witness.ts`,
    find: "await slots.write(slotOf(made.record.k), encodeSlot(made.value));",
    replace: "slots.write(slotOf(made.record.k), encodeSlot(made.value)).catch(() => {});",
    killedBy: writeOrder,
    search: { ...raft, durationMs: 20_000, profile: "disks", as: [...lost, "identity"] },
  },
  {
    name: "the hard state comes from a database that lost its last batches",
    source: "etcd#13509 and its family",
    file: `${log}/judgement.ts`,
    find: 'return { kind: "open", record: witness, lostBatches: witness.k - database.k, unwitnessed: false };',
    replace: 'return { kind: "open", record: database, lostBatches: 0, unwitnessed: false };',
    killedBy: lossRule,
    search: unsearched(
      "harm comes of it where a vote is lost and another candidate asks in its term: no seed of hundreds comes to that",
    ),
  },
  {
    name: "a node opens by one slot of its witness, though a vote may be gone",
    source: "storage-and-wire, the rule of opening",
    file: `${log}/judgement.ts`,
    find: "if (oneBad && (database === undefined || database.k <= witness.k))",
    replace: "if (oneBad && database === undefined && witness.k < 0)",
    killedBy: logStore(
      "is refused when one slot is damaged and the database is empty, since a vote may be gone",
    ),
    search: unsearched(
      "of the slots the simulator damages none: a crash tears one only when its batch is durable",
    ),
  },
  {
    name: "an entry's checksum is not looked at",
    source: "NATS#7587; protocol-aware recovery (FAST '18)",
    file: `${log}/entryRecord.ts`,
    find: "if (crc32(bytes.subarray(4)) !== chain) return undefined;",
    replace: "if (bytes.length === 0) return undefined;",
    killedBy: logStore("stops the store when an entry comes back changed"),
    search: unsearched("the simulator's disks lose whole batches, and flip no bit within an entry"),
  },
  {
    name: "an opening does not follow the chain of its entries",
    source: "storage-and-wire; LevelDB gives back older values in silence",
    file: `${log}/scan.ts`,
    find: "if (stored.previous !== previous) return",
    replace: "if (stored.previous !== previous && index < 0) return",
    killedBy: lossRule,
    search: unsearched("the simulator's disks lose whole batches, and give back no older value of a key"),
  },
  {
    name: "entries that were cut stay on the disk",
    source: "openraft#561",
    file: `${log}/chainedLog.ts`,
    find: "        doomed.push(...deletions(truncateFrom, kept.index));\n",
    replace: "",
    killedBy: inFile("test/storage/writeOrder.test.ts")(
      "takes what it cuts off the disk, so that the next opening finds nothing to say",
    ),
    search: unsearched("an opening takes them away and says so: it trusts its record of where the log ends"),
  },
];
