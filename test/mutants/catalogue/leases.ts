/** Bugs of leases: of those who grant them, and of those who believe in them. */
import { inFile, leaseRuns, type Mutant, narrowRace, type Search, unsearched } from "../mutant.ts";

const machine = inFile("test/machine/leases.test.ts");
const ends = inFile("test/machine/leaseEnds.test.ts");
const leaseClock = inFile("test/kv/leaseClock.test.ts");
const sessionClock = inFile("test/kv/sessionClock.test.ts");
const believers = inFile("test/sim/believers.test.ts");
const holders = inFile("test/sim/leases.test.ts");

const search: Search = {
  ...leaseRuns,
  as: ["lease exclusion", "lease deadline", "lease terms rise", "fencing"],
};
const costsTime = unsearched(
  "a waiter that is gone has the lease for a time to live: it costs time, and no more",
);

export const leases: readonly Mutant[] = [
  {
    name: "a grant to a waiter counts before it was claimed",
    source: "etcd#19597, #11456",
    file: "packages/kv/src/machine/leaseQueues.ts",
    find: "claimed: first.ticket === change.index,",
    replace: "claimed: true,",
    killedBy: machine("goes to the next waiter in the entry that releases it, which has to claim it"),
    search: costsTime,
  },
  {
    name: "a grant that was claimed is passed on",
    source: "coordination, §3: applies only if unclaimed",
    file: "packages/kv/src/machine/leases.ts",
    find: 'if (what === "passOn" && !grant.claimed)',
    replace: 'if (what === "passOn")',
    killedBy: machine("is passed on only as long as nobody has claimed it"),
    search: narrowRace,
  },
  {
    name: "a waiter whose session has ended gets the lease",
    source: "etcd#11456 (Jepsen), #19597, #16221",
    file: "packages/kv/src/machine/sessions.ts",
    find: "gone.push(...session.acquisitions.values());",
    replace: "gone.push(...[...session.acquisitions.values()].filter(({ term }) => term > 0));",
    killedBy: machine("is skipped by those whose session has ended (etcd#11456, #19597)"),
    search: { ...search, as: ["no unexpected stop"] },
  },
  {
    name: "the term of a grant does not rise with it",
    source: "Chubby, §2.4",
    file: "packages/kv/src/machine/leaseQueues.ts",
    find: "term: raisedRevision(change),",
    replace: "term: Math.max(1, change.state.revision),",
    killedBy: machine("is granted under the store's revision, which is its term, and rises with every grant"),
    search,
  },
  {
    name: "a restored cluster grants what a holder of the old one may still believe in",
    source:
      "coordination, §3: restoring grants nothing for the largest finite TTL in use; RFC 8881, §8.4.2.1",
    file: "packages/kv/src/machine/leaseQueues.ts",
    find: "if (state.graceMs > 0) return false;",
    replace: "if (state.graceMs < 0) return false;",
    killedBy: inFile("test/sim/restoredCluster.test.ts")(
      "grants a lease only when the holder that the old one had cannot believe in it any more",
    ),
    search: unsearched("random runs never make one cluster of another's store"),
  },
  {
    name: "a lease is taken from a holder that comes first",
    source: "coordination, §3 and §4: strategies are decided in the state machine",
    file: "packages/kv/src/machine/leases.ts",
    find: "if (!grants.every((grant) => isBetter(rank, grant))) return;",
    replace: "",
    killedBy: machine(
      "takes the lease from it where it says so; it is granted when the leader says that its time is over",
    ),
    search: unsearched("no random client takes a lease from its holder by force of its rank"),
  },
  {
    name: "a cancel that comes before its acquire is forgotten",
    source: "coordination, §3: applied first, it stores the answer",
    file: "packages/kv/src/machine/leases.ts",
    find: "if (sequence >= ackedBelow && !answers.has(sequence)) keepAnswer(sender.session, sequence, cancelled);",
    replace: "",
    killedBy: machine("that arrives before its acquire is that one's answer"),
    search: costsTime,
  },
  {
    name: "a fenced write asks for some holder, not for its own term",
    source: "Kleppmann, How to do distributed locking",
    file: "packages/kv/src/machine/leaseReads.ts",
    find: "return grant?.term === term && grant.claimed;",
    replace: "return grant !== undefined && term > 0;",
    killedBy: ends("is refused under an older term, under none, and before the lease is claimed"),
    search,
  },
  {
    name: "an expiry ends a session whose later renewal was logged",
    source: "etcd#14758",
    file: "packages/kv/src/machine/sessions.ts",
    find: "return found?.renewals === renewals && found.ttlMs < Number.POSITIVE_INFINITY;",
    replace: "return found !== undefined && renewals >= 0;",
    killedBy: ends("is not brought by an expiry that does not know of its last logged renewal"),
    search: unsearched(
      "a second lock: a leader proposes no end of a session of which a renewal is under way",
    ),
  },
  {
    name: "a broken lease is finished at once, though its holder does not know",
    source: "coordination, §3: a TTL after the last keep-alive answered unflagged",
    file: "packages/kv/src/server/leaseClock.ts",
    find: "dueMs: this.#ports.heardMs(grant.session) + ttlMs };",
    replace: "dueMs: Math.min(nowMs, ttlMs + nowMs) };",
    killedBy: leaseClock("is finished a time to live after the holder was last heard, not after the break"),
    search,
  },
  {
    name: "a renewal of a session whose silence is logged stays out of the log",
    source: "coordination, §2: the next leader would not know of it",
    file: "packages/kv/src/server/sessionClock.ts",
    find: "} else if (!office.confirms(session, found)) {",
    replace: "} else if (found.silentMs < 0) {",
    killedBy: sessionClock(
      "that is logged makes the next renewal a logged one, which clears it and is answered when applied",
    ),
    search,
  },
  {
    name: "a holder counts its deadline from the answer, not from the sending",
    source: "redlock#296, and the 2 × TTL of many",
    file: "packages/client/src/heldLease.ts",
    find: "const deadlineMs = sentMs + this.facts.allowanceMs;",
    replace: "const deadlineMs = Math.max(sentMs, nowMs) + this.facts.allowanceMs;",
    killedBy: believers("answers that come late, and then none"),
    search,
  },
  {
    name: "a holder believes for a whole time to live after its last renewal is answered again",
    source: "consul#1172, microsoft/etcd3#158: 2 × TTL",
    file: "packages/client/src/leaseDeadline.ts",
    find: "const allowance = ttlMs * (1 - clockDrift) - marginOfTtlMs;",
    replace: "const allowance = ttlMs * (2 - clockDrift) - marginOfTtlMs;",
    killedBy: believers("its path black-holed"),
    search,
  },
  {
    name: "a lease that is ending is extended like any other",
    source: "coordination, §3: it extends only leases that the set names not as ending",
    file: "packages/client/src/heldLease.ts",
    find: '    if (lease.ending !== "none") return;\n',
    replace: "",
    killedBy: believers("a lease that was broken, and cut off just before that is finished"),
    search,
  },
  {
    name: "a holder believes in its lease until the release is answered",
    source: "coordination, §3: check() throws from the sending",
    file: "packages/client/src/heldLease.ts",
    find: '    this.#finish("released", "released");\n',
    replace: "",
    killedBy: holders(
      "is held under a term, renewed for as long as its holder lives, and goes on to the next when released",
    ),
    search,
  },
];
