/** Bugs of what stands outside the store: terms checked by databases and files, and commands under a lease. */
import { inFile, type Mutant, unsearched } from "../mutant.ts";

const fencing = "packages/client/src/fencing";
const guardedChild = inFile("test/cli/guardedChild.test.ts");
const resource = inFile("test/fencing/fencedResource.test.ts");
const sqlite = inFile("test/fencing/sqlite.test.ts");
const statements = inFile("test/fencing/statements.test.ts");

const outside = unsearched("it lies outside what is simulated: databases, files and processes");
const guardRow = sqlite("refuses an older term after a newer one's first act, and nothing else");

export const fences: readonly Mutant[] = [
  {
    name: "the guard row takes any term",
    source: "Kleppmann, How to do distributed locking",
    file: `${fencing}/sql/guardStatements.ts`,
    find: " WHERE fence.term <= excluded.term RETURNING term",
    replace: " RETURNING term",
    killedBy: guardRow,
    search: outside,
  },
  {
    name: "the guard row lets a term act once and not again",
    source: "a holder's second transaction",
    file: `${fencing}/sql/guardStatements.ts`,
    find: "fence.term <= excluded.term",
    replace: "fence.term < excluded.term",
    killedBy: guardRow,
    search: outside,
  },
  {
    name: "an answer of the database without a row is a consent",
    source: "drivers that differ in what they answer",
    file: `${fencing}/sql/sqlFence.ts`,
    find: 'if (statements.judgedBy === "claim" && claimed === term) return;',
    replace: 'if (statements.judgedBy === "claim") return;',
    killedBy: statements("are never read as consent: no rows at all"),
    search: outside,
  },
  {
    name: "work that ended the guard's transaction is not noticed",
    source: "a statement on a schema, which commits in passing",
    file: `${fencing}/sql/sqlFence.ts`,
    find: "    await requireSameTransaction(connection);\n",
    replace: "",
    killedBy: sqlite("notices work that ended the guard's transaction"),
    search: outside,
  },
  {
    name: "a fenced resource acts before its term is durable",
    source: "a restart that lets an older term act again",
    file: `${fencing}/fencedResource.ts`,
    find: "      await this.#store.write(term);\n      this.#highest = term;\n",
    replace: "      this.#highest = term;\n      await this.#store.write(term);\n",
    killedBy: resource("never acts under a term that could not be kept, and tries again with the next act"),
    search: outside,
  },
  {
    name: "a newer term acts while an older one still does",
    source: "the check and the act are two things",
    file: `${fencing}/fencedResource.ts`,
    find: "      await this.#ended();\n",
    replace: "",
    killedBy: resource(
      "waits with a newer term's first act until older acts have ended, and refuses older ones meanwhile",
    ),
    search: outside,
  },
  {
    name: "a command that was asked to end lives on with the next renewal",
    source: "etcdctl lock, consul#9788",
    file: "packages/cli/src/lease/guardedChild.ts",
    find: "    if (isInDanger) this.#killAtMs = Math.min(this.#killAtMs, nowMs + remainingMs);\n",
    replace: "",
    killedBy: guardedChild(
      "has until the deadline as it was when it was asked, whatever is renewed afterwards",
    ),
    search: outside,
  },
  {
    name: "what a command started outlives it",
    source: "consul#9788, #1843",
    file: "packages/cli/src/lease/guardedChild.ts",
    find: "process.kill(-child.pid, signal);",
    replace: "process.kill(child.pid, signal);",
    killedBy: guardedChild(
      "that does not end when asked is killed before the deadline, with what it has started",
    ),
    search: outside,
  },
];
