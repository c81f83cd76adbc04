/** Bugs of those who hold leases, and of the sessions that they live in; those of their grants are in leases.ts. */
import { inFile, leaseRuns, type Mutant, narrowRace, type Search, unsearched } from "../mutant.ts";

const played = inFile("test/scenarios/coordination.test.ts");

const together = inFile("test/kv/renewals.test.ts");

const search: Search = {
  ...leaseRuns,
  as: ["lease exclusion", "lease deadline"],
};

export const holders: readonly Mutant[] = [
  {
    name: "an answer after the deadline gives a new one",
    source: "awslabs/dynamodb-lock-client PR 116, tristanls#21",
    file: "packages/client/src/heldLease.ts",
    find: "if (this.#deadlineMs !== undefined && nowMs >= this.#deadlineMs) {",
    replace: "if (this.#deadlineMs !== undefined && nowMs < 0) {",
    killedBy: played(
      "awslabs PR 116, kubernetes#131867: is not moved by an answer that comes after it, or after the release",
    ),
    search,
  },
  {
    name: "a holder believes for as long as it is not told otherwise",
    source: "kubernetes#23731, consul#18271",
    file: "packages/client/src/heldLease.ts",
    find: "    const endMs = this.#deadlineMs - leadMs;\n",
    replace: "    const endMs = Number.POSITIVE_INFINITY;\n",
    killedBy: played(
      "kubernetes#23731: whose renewals fail is lost by its own deadline, whatever it is answered",
    ),
    search,
  },
  {
    name: "the signal aborts after the deadline",
    source: "redlock#253",
    file: "packages/client/src/heldLease.ts",
    find: "const leadMs = 20;",
    replace: "const leadMs = -20;",
    killedBy: played("redlock#253: is announced by the signal before it, not after"),
    search,
  },
  {
    name: "the holder's clock stands still while its machine sleeps",
    source: "nodejs/node#47724",
    file: "packages/client/src/heldLease.ts",
    find: "    const nowMs = this.#clock.bootMs();\n    if (this.#loss !== undefined) throw this.#loss;",
    replace: "    const nowMs = this.#clock.nowMs();\n    if (this.#loss !== undefined) throw this.#loss;",
    killedBy: played("nodejs/node#47724: passes while the machine sleeps, and the loss says so"),
    search,
  },
  {
    name: "a session is renewed though its work has stopped",
    source: "amazon-kinesis-client#1669",
    file: "packages/client/src/renewals.ts",
    find: "const renewed = due.filter(({ options }) => options.mayRenew());",
    replace: "const renewed = due;",
    killedBy: inFile("test/sim/leases.test.ts")(
      "is renewed only while its work reports progress, where it was asked to be",
    ),
    search: unsearched("no random client has work that stops while its process goes on"),
  },
  {
    name: "whoever knows its term releases a lease",
    source: "CURATOR-604, #620, #696",
    file: "packages/kv/src/machine/leases.ts",
    find: "grant === undefined || grant.term !== term || grant.session !== sender.id",
    replace: "grant === undefined || grant.term !== term",
    killedBy: inFile("test/machine/leases.test.ts")(
      "is released by nobody but its holder, by the term of its grant",
    ),
    search: unsearched("no random client releases what another holds"),
  },
  {
    name: "marks of silence add up, and no renewal clears them",
    source: "etcd#2660, #13491",
    file: "packages/kv/src/machine/sessions.ts",
    find: "    session.silentMs = 0;\n",
    replace: "",
    killedBy: inFile("test/machine/leaseEnds.test.ts")(
      "adds up as leaders mark it, and a logged renewal clears it",
    ),
    search,
  },
  {
    name: "an expiry that failed is not proposed again",
    source: "etcd#9935, #10686",
    file: "packages/kv/src/server/sessionClock.ts",
    find: "      office.expiring.delete(session);\n",
    replace: '      if (outcome === "applied") office.expiring.delete(session);\n',
    killedBy: inFile("test/kv/sessionClock.test.ts")("is proposed again"),
    search: unsearched("a proposal of a leader that stays one fails only where it is overloaded"),
  },
  {
    name: "renewals of many confirm a session whose silence is logged",
    source: "coordination, §2: the next leader would not know of it",
    file: "packages/kv/src/server/office.ts",
    find: "return silentMs === 0 && !this.expiring.has(session)",
    replace: "return silentMs >= 0 && !this.expiring.has(session)",
    killedBy: together(
      "those whose silence is logged, or about to be, are left out: their renewals are logged",
    ),
    search,
  },
  {
    name: "renewals of many confirm a session whose end is proposed",
    source: "coordination, §2: from that turn on the leader confirms none",
    file: "packages/kv/src/server/office.ts",
    find: "return silentMs === 0 && !this.expiring.has(session) &&",
    replace: "return silentMs === 0 &&",
    killedBy: together("those whose end is proposed are left out, and end"),
    search: narrowRace,
  },
  {
    name: "an answer to renewals of many counts for those that it leaves out",
    source: "coordination, §3: extends only leases that the answer names",
    file: "packages/client/src/renewals.ts",
    find: "if (apart.has(session.id)) void session.renewAlone(patience.remainingMs);",
    replace: "if (apart.has(-session.id)) void session.renewAlone(patience.remainingMs);",
    killedBy: inFile("test/client/renewals.test.ts")(
      "are each asked for alone where the answer leaves them out, and only then extended",
    ),
    search,
  },
];
