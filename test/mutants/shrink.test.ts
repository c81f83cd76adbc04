/** A bug put in on purpose ends as a schedule of a few events that still shows it. */
import { readSchedule, sizeOf, writeSchedule } from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { mutants } from "./catalogue.ts";
import { readKept } from "./kept.ts";
import { shrink } from "./shrink.ts";

/** Two of votes, two of acks and commitment, one of the log. */
const chosen = [
  "the vote is not persisted",
  "an append is acknowledged before its sync",
  "a vote leaves before it is durable",
  "a follower commits what it holds, verified or not",
  "every append truncates what follows it, below the commit index too",
];

describe("a killing seed of a mutant is made small", () => {
  it.each(mutants.filter(({ name }) => chosen.includes(name)))(
    "$name",
    { timeout: 240_000 },
    async (mutant) => {
      const shrunk = await shrink(mutant, readKept());
      if (shrunk === undefined || mutant.search.kind === "none") expect.fail("no kept seed shows it");
      expect(mutant.search.as).toContain(shrunk.violation.invariant);
      expect(sizeOf(shrunk.schedule)).toBeLessThanOrEqual(15);
      expect(readSchedule(writeSchedule(shrunk.schedule))).toEqual(shrunk.schedule);
    },
  );
});
