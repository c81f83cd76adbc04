/** What a leader answers to a node that asks to be taken in. */
import { answerMemberRequest } from "@quorate/kv/internal";
import {
  asIndex,
  asTerm,
  type Configuration,
  type MemberChange,
  memberId,
  type NodeId,
  type NodeStatus,
  votersOnly,
} from "@quorate/raft";
import { describe, expect, it } from "vitest";

const a = { id: memberId("a" as NodeId, "00000000000000aa"), address: "ws://127.0.0.1:1" };
const joiner = { id: memberId("d" as NodeId, "00000000000000dd"), address: "ws://127.0.0.1:4" };
const request = {
  kind: "joinCluster" as const,
  member: joiner.id,
  endpoint: joiner.address,
  votes: true,
};

function leader(configuration: Configuration, facts: { configurationIndex: number; commitIndex: number }) {
  const asked: (readonly MemberChange[])[] = [];
  const index = asIndex(facts.configurationIndex);
  const status = {
    member: a.id,
    role: "leader",
    clusterId: "c".repeat(32),
    configuration,
    configurationIndex: index,
    commitIndex: asIndex(facts.commitIndex),
  } as unknown as NodeStatus;
  return {
    asked,
    status: () => status,
    readIndex: async () => ({ index, term: asTerm(1), asLeader: true }),
    changeMembers: async (changes: readonly MemberChange[]) => {
      asked.push(changes);
      return { index, configuration };
    },
  };
}

const withJoiner: Configuration = {
  ...votersOnly([a]),
  learners: [{ ...joiner, promotes: true, replaces: undefined }],
};

const sameRelease = { shown: 2, required: () => 2 };

describe("a node that asks to be taken in", () => {
  it("is added, or takes the place of the member of its name", async () => {
    const node = leader(votersOnly([a]), { configurationIndex: 0, commitIndex: 9 });
    await answerMemberRequest(node, request, sameRelease);
    expect(node.asked).toEqual([[{ kind: "add", member: joiner, promotes: true }]]);
    const wiped = memberId("a" as NodeId, "00000000000000a2");
    await answerMemberRequest(node, { ...request, member: wiped }, sameRelease);
    expect(node.asked[1]).toEqual([{ kind: "replace", id: a.id, by: { ...joiner, id: wiped } }]);
  });

  it("is told that it is a member once that is committed, and not before", async () => {
    const committed = leader(withJoiner, { configurationIndex: 7, commitIndex: 7 });
    expect(
      (await answerMemberRequest(committed, request, sameRelease)).members.map((one) => one.member),
    ).toContain(joiner.id);
    const open = leader(withJoiner, { configurationIndex: 7, commitIndex: 6 });
    await expect(answerMemberRequest(open, request, sameRelease)).rejects.toMatchObject({
      code: "CHANGE_REFUSED",
      retryable: true,
      outcome: "none",
    });
    expect([...committed.asked, ...open.asked]).toEqual([]);
  });

  it("is looked for where it is now, when it could not be reached where it was", async () => {
    const node = leader(withJoiner, { configurationIndex: 7, commitIndex: 7 });
    const endpoint = "ws://10.0.0.9:7101";
    await answerMemberRequest(node, { ...request, endpoint }, sameRelease);
    expect(node.asked).toEqual([[{ kind: "move", id: joiner.id, address: endpoint }]]);
  });

  it("is refused for good where its release would misread the cluster's entries", async () => {
    const node = leader(votersOnly([a]), { configurationIndex: 0, commitIndex: 9 });
    const older = { shown: 1, required: () => 2 };
    await expect(answerMemberRequest(node, request, older)).rejects.toMatchObject({
      code: "CHANGE_REFUSED",
      retryable: false,
      message: expect.stringContaining("knows version 1 of the state machine"),
    });
    expect(node.asked).toEqual([]);
  });
});
