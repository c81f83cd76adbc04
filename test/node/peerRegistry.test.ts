/** Who may speak to a node, judged on what a peer shows before anything of it is decoded. */
import {
  asIndex,
  asTerm,
  type LogStore,
  memberId,
  type NodeId,
  type PeerHello,
  type Seen,
  type Standing,
  votersOnly,
} from "@quorate/raft";
import { PeerRegistry } from "@quorate/raft/internal";
import { describe, expect, it } from "vitest";

const a = memberId("a" as NodeId, "00000000000000aa");
const b = memberId("b" as NodeId, "00000000000000bb");
const wipedB = memberId("b" as NodeId, "00000000000000b2");
const stranger = memberId("z" as NodeId, "00000000000000ff");
const ourCluster = "c".repeat(32);

const born: Standing = {
  kind: "born",
  birth: {
    clusterId: ourCluster,
    configuration: votersOnly([
      { id: a, address: "ws://a" },
      { id: b, address: "ws://b" },
    ]),
  },
  restored: {
    term: asTerm(0),
    vote: undefined,
    floor: undefined,
    boundary: { index: asIndex(0), term: asTerm(0) },
    snapshot: undefined,
    lastIndex: asIndex(0),
    termRuns: [],
    configurations: [],
    boot: 1,
  },
};

function registry(standing: Standing, seen: readonly (readonly [typeof a, Seen])[] = []): PeerRegistry {
  const log = { standing, seen: new Map(seen) } as unknown as LogStore;
  const configured = [
    { nodeId: "a" as NodeId, address: "ws://a" },
    { nodeId: "b" as NodeId, address: "ws://proxy" },
  ];
  return new PeerRegistry(log, a, configured);
}

function hello(facts: Partial<PeerHello>): PeerHello {
  return {
    member: b,
    clusterId: ourCluster,
    start: "new",
    boot: 3,
    sequence: 9,
    address: "ws://b",
    priority: 1,
    ...facts,
  };
}

describe("a peer", () => {
  it("of the same cluster is heard, also when it is not in our configuration yet", () => {
    expect(registry(born).judge(hello({}))).toBeUndefined();
    expect(registry(born).judge(hello({ member: stranger }))).toBeUndefined();
  });

  it("that is unborn is heard when the configuration names it, so that it can be told", () => {
    expect(registry(born).judge(hello({ clusterId: undefined }))).toBeUndefined();
  });

  it.each([
    ["of another cluster", { clusterId: "d".repeat(32) }, "otherCluster", "check the addresses in --peers"],
    ["that was wiped", { member: wipedB, clusterId: undefined }, "otherIncarnation", "is new or was wiped"],
    ["that nobody named", { member: stranger, clusterId: undefined }, "notMember", "z is not a member"],
    ["that is ourselves", { member: a }, "self", "its own address is listed"],
    ["with an older boot", { boot: 2, sequence: 20 }, "rolledBack", "older copy"],
    [
      "with an older write",
      { boot: 4, sequence: 8 },
      "rolledBack",
      "boot 3 and write 9 were seen of an earlier one",
    ],
    ["with the boot of another start", { boot: 3, sequence: 20 }, "rolledBack", "older copy"],
  ] as const)("%s is refused with a sentence", (_, facts, code, words) => {
    const refusal = registry(born, [[b, { start: "old", boot: 3, sequence: 9 }]]).judge(hello(facts));
    expect(refusal?.code).toBe(code);
    expect(refusal?.reason).toContain(words);
  });

  it("whose hello was overtaken by a newer one of the same start is heard", () => {
    const seen = { start: "same", boot: 3, sequence: 9 };
    expect(registry(born, [[b, seen]]).judge(hello({ start: "same", boot: 3, sequence: 8 }))).toBeUndefined();
  });

  it("started anew, with more than was seen of it, is heard", () => {
    const seen = { start: "old", boot: 3, sequence: 9 };
    expect(registry(born, [[b, seen]]).judge(hello({ boot: 4, sequence: 10 }))).toBeUndefined();
  });

  it("called like this node is refused", () => {
    const twin = memberId("a" as NodeId, "00000000000000a2");
    expect(registry(born).judge(hello({ member: twin }))?.code).toBe("sameName");
  });

  it("is looked for where this node was told, under the name that the log knows", () => {
    const known = registry(born);
    expect(known.targets()).toEqual([{ nodeId: "b", addresses: ["ws://proxy"] }]);
    known.greeted(hello({ address: "ws://moved" }));
    expect(known.addressOf(b)).toBe("ws://moved");
  });
});
