/** What a change makes of a configuration, in tables and against brute force. */
import { type Configuration, hasQuorum, type MemberChange, reachedByQuorum, votersOnly } from "@quorate/raft";
import { changeMembers, leaveJoint, promote, towards } from "@quorate/raft/internal";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configurationFor, idOf } from "./cluster.ts";

const names = ["a", "b", "c", "d", "e", "f", "g", "h"];

function memberNamed(name: string): Configuration["voters"][number] {
  return configurationFor([name]).voters[0]!;
}

const abc = configurationFor(["a", "b", "c"]);
const withLearner: Configuration = {
  ...abc,
  learners: [{ ...memberNamed("d"), promotes: false, replaces: undefined }],
};
const add = (name: string, promotes = true): MemberChange => ({
  kind: "add",
  member: memberNamed(name),
  promotes,
});

describe("changing a configuration", () => {
  const refused: readonly (readonly [what: string, from: Configuration, MemberChange[], refusal: string])[] =
    [
      ["nothing", abc, [], "unchanged"],
      ["adding a member", abc, [add("b")], "isMember"],
      ["adding a learner again", withLearner, [add("d")], "isMember"],
      [
        "adding another incarnation of a member",
        abc,
        [{ kind: "add", member: { id: "b.00000000000000b2" as never, address: "ws://b:1" }, promotes: true }],
        "nameTaken",
      ],
      ["promoting a voter", abc, [{ kind: "promote", id: idOf("a") }], "unchanged"],
      ["promoting a stranger", abc, [{ kind: "promote", id: idOf("z") }], "unknownMember"],
      ["demoting a lasting learner", withLearner, [{ kind: "demote", id: idOf("d") }], "unchanged"],
      ["removing a stranger", abc, [{ kind: "remove", id: idOf("z") }], "unknownMember"],
      [
        "replacing a stranger",
        abc,
        [{ kind: "replace", id: idOf("z"), by: memberNamed("y") }],
        "unknownMember",
      ],
      ["moving to where it is", abc, [{ kind: "move", id: idOf("a"), address: "ws://a:1" }], "unchanged"],
      [
        "removing the last voter",
        votersOnly([memberNamed("a")]),
        [{ kind: "remove", id: idOf("a") }],
        "noVoterLeft",
      ],
      ["an eighth voter", configurationFor(names.slice(0, 7)), [add("h")], "tooManyMembers"],
    ];

  it.each(refused)("refuses %s", (_, from, changes, refusal) => {
    expect(changeMembers(from, changes)).toBe(refusal);
  });

  it("lets a wiped node take the place of what it was, under the same name", () => {
    const wiped = { id: "c.00000000000000c2" as never, address: "ws://c:1" };
    const next = changeMembers(abc, [{ kind: "replace", id: idOf("c"), by: wiped }]) as Configuration;
    expect(next.voters).toEqual(abc.voters);
    expect(next.learners).toEqual([{ ...wiped, promotes: true, replaces: idOf("c") }]);
    expect(promote(next, next.learners[0]!).voters.map((voter) => voter.id)).toEqual([
      idOf("a"),
      idOf("b"),
      wiped.id,
    ]);
  });

  it("makes a learner of a demoted voter at once", () => {
    const next = changeMembers(abc, [{ kind: "demote", id: idOf("b") }]) as Configuration;
    expect(next.voters.map((voter) => voter.id)).toEqual([idOf("a"), idOf("c")]);
    expect(next.learners).toEqual([{ ...memberNamed("b"), promotes: false, replaces: undefined }]);
    expect(towards(abc, next)).toBe(next);
  });
});

describe("every step of a change", () => {
  const voters = fc.subarray(names, { minLength: 1, maxLength: 7 }).map((list) => configurationFor(list));
  const granted = fc.subarray(names).map((list) => new Set(list.map(idOf)));

  it("leaves no two quorums that could decide apart (Dissertation §4.1, §4.3)", () => {
    fc.assert(
      fc.property(voters, voters, granted, (before, after, some) => {
        const others = (id: ReturnType<typeof idOf>): boolean => !some.has(id);
        const steps = [before, towards(before, after)];
        steps.push(leaveJoint(steps[1]!));
        for (let at = 1; at < steps.length; at += 1) {
          const [one, other] = [steps[at - 1]!, steps[at]!];
          const bothDecide = hasQuorum(one, (id) => some.has(id)) && hasQuorum(other, others);
          expect(bothDecide).toBe(false);
        }
        expect(steps[2]!.voters).toEqual(after.voters);
      }),
      { numRuns: 2_000 },
    );
  });

  it("asks a majority of each list, of values as of votes", () => {
    const values = fc.array(fc.nat(9), { minLength: names.length, maxLength: names.length });
    fc.assert(
      fc.property(voters, voters, values, (incoming, outgoing, reached) => {
        const joint = { ...incoming, outgoing: outgoing.voters };
        const of = (id: ReturnType<typeof idOf>): number =>
          reached[names.findIndex((name) => idOf(name) === id)]!;
        const value = reachedByQuorum(joint, of);
        expect(value).toBe(Math.min(reachedByQuorum(incoming, of), reachedByQuorum(outgoing, of)));
        expect(hasQuorum(joint, (id) => of(id) >= value)).toBe(true);
        expect(hasQuorum(joint, (id) => of(id) > value)).toBe(false);
      }),
    );
  });
});
