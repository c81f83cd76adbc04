/** The promises of those who change the membership: kept only when their own entry is what was committed. */
import { asIndex, asTerm, createState, type MembershipOutcome, type RaftState } from "@quorate/raft";
import { MembershipWaiters } from "@quorate/raft/internal";
import { describe, expect, it } from "vitest";
import { configurationFor, defaults, idOf } from "../core/cluster.ts";

/** A log whose newest configuration is the entry 2, of this term. */
function logWith(term: number): RaftState["log"] {
  const [first, second] = [configurationFor(["a", "b"]), configurationFor(["a", "b", "c"])];
  return createState(
    { ...defaults, self: idOf("a") },
    {
      term: asTerm(term),
      vote: undefined,
      floor: undefined,
      boundary: { index: asIndex(0), term: asTerm(0) },
      snapshot: undefined,
      lastIndex: asIndex(2),
      termRuns: [{ firstIndex: asIndex(1), term: asTerm(term) }],
      configurations: [
        { index: asIndex(0), configuration: first },
        { index: asIndex(2), configuration: second },
      ],
      boot: 1,
    },
    0,
  ).log;
}

function begun(waiters: MembershipWaiters): Promise<unknown> {
  let id = 0;
  const promise = waiters.request(undefined, (given) => {
    id = given;
  });
  const outcome: MembershipOutcome = { kind: "appended", id, index: asIndex(2), term: asTerm(3) };
  waiters.answered(outcome);
  return promise;
}

describe("a change of membership that was begun", () => {
  it("is over when its entry is committed", async () => {
    const waiters = new MembershipWaiters();
    const promise = begun(waiters);
    waiters.progressed(logWith(3), asIndex(1));
    waiters.progressed(logWith(3), asIndex(2));
    await expect(promise).resolves.toMatchObject({ index: 2 });
  });

  it("is not over by another leader's entry in the same place", async () => {
    const waiters = new MembershipWaiters();
    const promise = begun(waiters);
    waiters.progressed(logWith(4), asIndex(2));
    waiters.leadershipLost();
    await expect(promise).rejects.toMatchObject({ code: "PROPOSAL_LOST", outcome: "unknown" });
  });
});
