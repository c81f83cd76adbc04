/**
 * Why two holders never both pass `check()`, by looking at everything that two clients, a leader and the one before it
 * can do within each bound; and that the exploration finds it where a rule is left out.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadSources } from "../mutants/loadMutated.ts";
import { occurrences, type Patch, root } from "../mutants/sources.ts";
import { exploreLeases, type LeaseExploration } from "./leases/exploreLeases.ts";
import { deepLeaseBounds, quickLeaseBounds } from "./leases/leaseBounds.ts";
import type { BrokenRule, LeaseBound } from "./leases/model.ts";
import { mirrored } from "./leases/office.ts";
import { product, type Subject } from "./leases/subject.ts";

function holds(bound: LeaseBound): LeaseExploration {
  const result = exploreLeases(product, bound);
  const { states, transitions, stores, isComplete } = result;
  const end = isComplete ? "all" : "the first";
  process.stdout.write(
    `${bound.name}: ${end} ${states} worlds, by ${transitions} steps, of ${stores} stores\n`,
  );
  expect(result.violation).toBeUndefined();
  for (const mark of bound.marks) expect(result.marks, mark).toContain(mark);
  return result;
}

describe("no two clients believe at once, and nobody is ended before its deadline", () => {
  it.each(quickLeaseBounds)("within $name", { timeout: 120_000 }, (bound) => {
    expect(holds(bound).isComplete).toBe(true);
  });

  if (process.env.QUORATE_DEEP !== undefined) {
    it.each(deepLeaseBounds)("within $name", { timeout: 7_200_000 }, (bound) => {
      holds(bound);
    });
  }

  it("by rules of the leader's clock that are still those of its source", () => {
    const sources = ["sessionClock.ts", "office.ts"].map((name) =>
      join(root, "packages/kv/src/server", name),
    );
    const text = sources.map((path) => readFileSync(path, "utf8")).join("\n");
    expect(mirrored.filter((lines) => text.split(lines).length !== 2)).toEqual([]);
  });
});

const early = /^an expiry ends no session/;
const both = /^two clients pass/;

const leftOut: readonly { rule: BrokenRule; within: number; finds: RegExp }[] = [
  { rule: "confirmed while it expires", within: 0, finds: early },
  { rule: "renewed outside the log", within: 0, finds: early },
  { rule: "answered when appended", within: 0, finds: early },
  { rule: "awaited, ended and forgotten", within: 0, finds: early },
  { rule: "no quorum asked", within: 0, finds: /^a session that has ended is not renewed/ },
  { rule: "counted from the election", within: 0, finds: early },
  { rule: "believed before it is claimed", within: 3, finds: both },
  { rule: "believed after its release", within: 3, finds: both },
];

const planted: readonly (Patch & { name: string; within: number; finds: RegExp })[] = [
  {
    name: "marks add up, and no renewal clears them",
    file: "packages/kv/src/machine/sessions.ts",
    find: "    session.silentMs = 0;\n",
    replace: "",
    within: 0,
    finds: early,
  },
  {
    name: "a new leader counts from before its office",
    file: "packages/kv/src/server/office.ts",
    find: "return Math.max(this.sinceMs ?? Number.POSITIVE_INFINITY, this.heardMs.get(session) ?? 0);",
    replace: "return Math.max(0, this.heardMs.get(session) ?? 0);",
    within: 0,
    finds: early,
  },
  {
    name: "a holder believes for a whole time to live, without drift and margin",
    file: "packages/client/src/leaseDeadline.ts",
    find: "ttlMs * (1 - clockDrift) - marginOfTtlMs",
    replace: "ttlMs",
    within: 0,
    finds: early,
  },
  {
    name: "a deadline counts from when the answer came",
    file: "packages/client/src/heldLease.ts",
    find: "const deadlineMs = sentMs + this.facts.allowanceMs;",
    replace: "const deadlineMs = nowMs + this.facts.allowanceMs;",
    within: 0,
    finds: both,
  },
  {
    name: "an ending is finished at once",
    file: "packages/kv/src/server/leaseClock.ts",
    find: "dueMs: this.#ports.heardMs(grant.session) + ttlMs",
    replace: "dueMs: nowMs + 0 * ttlMs",
    within: 2,
    finds: both,
  },
  {
    name: "a grant is passed on though it was claimed",
    file: "packages/kv/src/machine/leases.ts",
    find: 'if (what === "passOn" && !grant.claimed)',
    replace: 'if (what === "passOn")',
    within: 3,
    finds: both,
  },
];

function findsIt(subject: Subject, within: number, finds: RegExp, rule?: BrokenRule): void {
  const { violation } = exploreLeases(subject, quickLeaseBounds[within]!, rule);
  expect(violation?.sentence).toMatch(finds);
  expect(violation?.trace.length).toBeGreaterThan(0);
}

describe("the exploration finds a rule that is left out", () => {
  it.each(leftOut)("$rule", { timeout: 120_000 }, ({ rule, within, finds }) => {
    findsIt(product, within, finds, rule);
  });

  it.each(planted)("$name", { timeout: 120_000 }, async (patch) => {
    expect(occurrences(patch)).toBe(1);
    const loaded = await loadSources(patch);
    try {
      const [machine, ...parts] = await Promise.all(
        [
          "packages/kv/src/machine/index.ts",
          "packages/kv/src/server/office.ts",
          "packages/kv/src/server/leaseClock.ts",
          "packages/client/src/heldLease.ts",
          "packages/client/src/leaseDeadline.ts",
        ].map((file) => loaded.load(file)),
      );
      const [office, leaseClock, heldLease, leaseDeadline] = parts as object[];
      const subject = {
        machine,
        server: { ...office, ...leaseClock },
        client: { ...heldLease, ...leaseDeadline },
      } as Subject;
      expect(loaded.wasApplied).toBe(true);
      findsIt(subject, patch.within, patch.finds);
    } finally {
      await loaded.close();
    }
  });
});
