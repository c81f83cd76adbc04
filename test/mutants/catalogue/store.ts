/** Bugs of the store, its sessions and its clients. */
import { inFile, leaseRuns, type Mutant, narrowRace, type Search, unsearched } from "../mutant.ts";

const sessions = inFile("test/machine/sessions.test.ts");
const sessionClock = inFile("test/kv/sessionClock.test.ts");
const rollingUpgrade = inFile("test/sim/rollingUpgrade.test.ts");

const store = { kind: "seeds", layer: "store", nodes: 3, durationMs: 4_000 } as const;
const once: Search["as"] = ["exactly once"];

const noReleases = unsearched("the simulator's random runs know one release");

export const keyValueStore: readonly Mutant[] = [
  {
    name: "the machine's version is raised though a member does not know it",
    source: "etcd's cluster version; coordination, §1: switched on by an entry once all members support it",
    file: "packages/kv/src/server/machineUpgrade.ts",
    find: "const version = Math.min(known, ...shown.map((one) => one.version ?? 0));",
    replace: "const version = known;",
    killedBy: rollingUpgrade(
      "lets no command of a new version into the log while an old member is there, and all of them afterwards",
    ),
    search: noReleases,
  },
  {
    name: "a command of a later version goes into the log before every member knows it",
    source: "coordination, §1: apply is deterministic",
    file: "packages/kv/src/server/requestHandler.ts",
    find: "if (version > host.store.version) {",
    replace: "if (version < host.store.version) {",
    killedBy: rollingUpgrade(
      "lets no command of a new version into the log while an old member is there, and all of them afterwards",
    ),
    search: noReleases,
  },
  {
    name: "a command of a later version is run by those who know it",
    source: "coordination, §1: the same error result on every node",
    file: "packages/kv/src/machine/applyEntry.ts",
    find: "if (isTooNew(state, command)) return { result: unknownCommand, ...untouched };",
    replace: "",
    killedBy: inFile("test/machine/machineVersion.test.ts")(
      "is malformed, as for a release that does not know it, and changes nothing until an entry raises the version",
    ),
    search: noReleases,
  },
  {
    name: "a command that comes twice runs twice",
    source: "rqlite#2759, atomix#341, iggy#3753",
    file: "packages/kv/src/machine/exactlyOnce.ts",
    find: "if (stored !== undefined) return stored;",
    replace: "if (stored !== undefined && origin.sequence < 0) return stored;",
    killedBy: sessions("that arrives twice runs once, and gets the stored answer, though the state went on"),
    search: { ...store, profile: "transfers", as: once },
  },
  {
    name: "a command of a session that has ended runs",
    source: "the dissertation, §6.3",
    file: "packages/kv/src/machine/exactlyOnce.ts",
    find: "if (session === undefined) return sessionEnded;",
    replace: "if (session === undefined) return run();",
    killedBy: sessions("that has ended refuses its commands, and never runs them"),
    search: { ...store, durationMs: 16_000, profile: "network", as: once },
  },
  {
    name: "a deposed leader's expiry ends a session",
    source: "etcd#12528, #15247",
    file: "packages/kv/src/machine/sessions.ts",
    find: "  if (term !== change.term) return nothing;\n",
    replace: "  if (term > change.term) return nothing;\n",
    killedBy: sessions("expires only by a command of the term that it is applied in"),
    search: unsearched(
      "an expiry is proposed in its own term; only a copy kept for long could be of an older one",
    ),
  },
  {
    name: "a new leader counts a session's silence from before its office",
    source: "etcd#2660",
    file: "packages/kv/src/server/office.ts",
    find: "return Math.max(this.sinceMs ?? Number.POSITIVE_INFINITY, this.heardMs.get(session) ?? 0);",
    replace: "return Math.max(0, this.heardMs.get(session) ?? 0);",
    killedBy: sessionClock("gives every session a whole time to live from when the new leader took office"),
    search: { ...leaseRuns, as: ["lease exclusion"] },
  },
  {
    name: "a keep-alive is confirmed while the expiry is under way",
    source: "etcd#14758",
    file: "packages/kv/src/server/sessionClock.ts",
    find: '    else if (office.expiring.has(session)) end("notNow");\n',
    replace: "",
    killedBy: sessionClock("a keep-alive that arrived before and is confirmed after is not confirmed either"),
    search: narrowRace,
  },
  {
    name: "a write that may have run goes on under another session",
    source: "the dissertation, §6.3",
    file: "packages/client/src/clientSession.ts",
    find: "if (!executed.earlierUnanswered) return undefined;",
    replace: "if (!executed.earlierUnanswered || this.hasEnded) return undefined;",
    killedBy: inFile("test/client/session.test.ts")(
      "a write that may have been executed is unknown, and is never sent under another session",
    ),
    search: unsearched("no random request waits longer than a session lives without being heard"),
  },
  {
    name: "a write whose leader fell is told to have had no effect",
    source: "rule 9 of errors: an unknown outcome is never called none",
    file: "packages/raft/src/node/waiters.ts",
    find: "      if (index <= commitIndex) continue;\n",
    replace:
      "      if (index <= commitIndex) continue;\n" +
      '      if (index > 0) waiter.reject(new QuorateError("PROPOSAL_LOST", "", { retryable: true, outcome: "none" }));\n',
    killedBy: inFile("test/node/waiters.test.ts")(
      "is told unknown, never failed, when leadership goes after the append",
    ),
    search: { kind: "seeds", layer: "raft", nodes: 3, durationMs: 8_000, profile: "transfers", as: once },
  },
];
