/** Who may speak to a node, judged on what a peer shows before anything of it is decoded. */
import {
  type LogStore,
  memberId,
  type NodeId,
  type PeerHello,
  type Seen,
  type Standing,
  votersOnly,
} from "@quorate/raft";
import { type MachineGate, PeerRegistry } from "@quorate/raft/internal";
import { describe, expect, it } from "vitest";
import { emptyRestored } from "./restored.ts";

const a = memberId("a" as NodeId, "00000000000000aa");
const b = memberId("b" as NodeId, "00000000000000bb");
const wipedB = memberId("b" as NodeId, "00000000000000b2");
const stranger = memberId("z" as NodeId, "00000000000000ff");
const ourCluster = "c".repeat(32);

const founded = votersOnly([
  { id: a, address: "ws://a" },
  { id: b, address: "ws://b" },
]);
const born: Standing = {
  kind: "born",
  birth: { clusterId: ourCluster, configuration: founded },
  restored: emptyRestored(founded),
};

function registry(
  standing: Standing,
  seen: readonly (readonly [typeof a, Seen])[] = [],
  gate?: MachineGate,
): PeerRegistry {
  const log = { standing, seen: new Map(seen) } as unknown as LogStore;
  const configured = [
    { nodeId: "a" as NodeId, address: "ws://a" },
    { nodeId: "b" as NodeId, address: "ws://proxy" },
  ];
  return new PeerRegistry(log, a, configured, gate);
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
    machine: 1,
    ...facts,
  };
}

describe("a peer", () => {
  it("of the same cluster is heard, also when it is not in our configuration yet", () => {
    expect(registry(born).judge(hello({}))).toBeUndefined();
    expect(registry(born).judge(hello({ member: stranger }))).toBeUndefined();
  });

  it("of an older release is refused once entries are of a version that it does not know", () => {
    let required = 1;
    const told: string[] = [];
    const peers = registry(born, [], {
      required: () => required,
      complain: (sentence) => told.push(sentence),
    });
    const older = hello({ machine: 1 });
    expect(peers.judge(older)).toBeUndefined();
    peers.greeted(older);
    peers.greeted(hello({ member: stranger, machine: 3 }));
    expect([peers.machineOf(b), peers.machineOf(stranger), peers.machineOf(wipedB)]).toEqual([
      1,
      3,
      undefined,
    ]);
    expect(peers.isOutdated(b)).toBe(false);
    required = 2;
    const sentence = "b runs a release that knows version 1 of the state machine";
    expect(peers.judge(older)).toMatchObject({
      code: "oldMachine",
      reason: expect.stringContaining(sentence),
    });
    expect(peers.judge(hello({ member: wipedB, clusterId: undefined, machine: 1 }))?.code).toBe(
      "otherIncarnation",
    );
    // A link that stood before is not used any more.
    expect([peers.isOutdated(b), peers.isOutdated(stranger), peers.isOutdated(wipedB)]).toEqual([
      true,
      false,
      true,
    ]);
    // Of one that has not greeted it yet, a node says nothing: it may be away, and of any release.
    expect(told).toEqual([expect.stringContaining(sentence)]);
    expect(peers.judge(hello({ machine: 2 }))).toBeUndefined();
    peers.greeted(hello({ machine: 2 }));
    expect(peers.isOutdated(b)).toBe(false);
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
