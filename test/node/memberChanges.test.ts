/** Changes of membership on whole nodes in memory: joining, replacing, leaving, and what callers are told. */
import { asIndex, type LogStore, type MemberChange, memberId, nodeIdOf, QuorateError } from "@quorate/raft";
import { memoryNetwork } from "@quorate/transport/links";
import { afterEach, describe, expect, it } from "vitest";
import { addressOf, clock, openMemoryLog, type Running, runNode, untilWithin } from "./memoryNode.ts";

const until = untilWithin(20_000);
const encoder = new TextEncoder();
const ended: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(ended.splice(0).map((end) => end()));
});

class World {
  readonly network = memoryNetwork();

  async start(log: LogStore, peers: readonly string[], joins?: string): Promise<Running> {
    const one = await runNode(this.network, log, peers, joins === undefined ? {} : { joins });
    ended.push(() => one.stop());
    return one;
  }

  async found(...names: string[]): Promise<Running[]> {
    return Promise.all(names.map(async (name) => this.start(await openMemoryLog(name), names)));
  }
}

function leaderOf(nodes: readonly Running[]): Promise<Running> {
  return until("a leader", () => nodes.find(({ node }) => node.status().role === "leader"));
}

function votersOf({ node }: Running): string {
  const { configuration } = node.status();
  if (configuration === undefined || configuration.outgoing.length > 0) return "";
  return configuration.voters
    .map((voter) => nodeIdOf(voter.id))
    .sort()
    .join("");
}

function becomes(running: Running, voters: string): Promise<true> {
  return until(`the voters ${voters}, seen by ${running.node.member}`, () =>
    votersOf(running) === voters ? true : undefined,
  );
}

/** Asked again while an earlier change, such as a promotion, is not committed yet. */
async function change(nodes: readonly Running[], changes: readonly MemberChange[]): Promise<Running> {
  for (;;) {
    const leader = await leaderOf(nodes);
    try {
      await leader.node.changeMembers(changes);
      return leader;
    } catch (error) {
      if (!(error instanceof QuorateError && error.retryable && error.outcome === "none")) throw error;
      await new Promise((resolve) => clock.after(5, () => resolve(undefined)));
    }
  }
}

/** Opens a directory, has it added by the leader, and starts it. */
async function joinTo(world: World, nodes: readonly Running[], name: string): Promise<Running> {
  const log = await openMemoryLog(name);
  const { nodeId, incarnation } = log.identity;
  const member = { id: memberId(nodeId, incarnation), address: addressOf(name) };
  const leader = await leaderOf(nodes);
  const twin = leader.node.status().configuration?.voters.find((voter) => nodeIdOf(voter.id) === nodeId);
  const addition: MemberChange =
    twin === undefined
      ? { kind: "add", member, promotes: true }
      : { kind: "replace", id: twin.id, by: member };
  await change(nodes, [addition]);
  return world.start(log, [name], leader.node.status().clusterId ?? "");
}

describe("a node that joins a running cluster", () => {
  it("is told its cluster, gets the log, and votes when it has caught up", async () => {
    const world = new World();
    const nodes = await world.found("a", "b", "c");
    const leader = await leaderOf(nodes);
    for (let count = 0; count < 50; count += 1) await leader.node.propose(encoder.encode(`w${count}`));
    const d = await joinTo(world, nodes, "d");
    for (const running of [...nodes, d]) await becomes(running, "abcd");
    await until("the whole log", () => (d.applied.length === 50 ? true : undefined));
    expect(d.node.status()).toMatchObject({ standing: "born", complaints: [] });
    expect(d.node.status().clusterId).toBe(leader.node.status().clusterId);
  });

  it("makes three of one, and the one may then leave", async () => {
    const world = new World();
    const [a] = await world.found("a");
    await leaderOf([a!]);
    await a!.node.propose(encoder.encode("first"));
    const b = await joinTo(world, [a!], "b");
    await becomes(a!, "ab");
    const c = await joinTo(world, [a!, b], "c");
    await becomes(a!, "abc");
    await change([a!, b, c], [{ kind: "remove", id: a!.node.member }]);
    const next = await leaderOf([b, c]);
    await next.node.propose(encoder.encode("second"));
    await until("both writes", () => (b.applied.length === 2 && c.applied.length === 2 ? true : undefined));
    await becomes(b, "bc");
    await until("a complaint of the one that left", () =>
      a!.node.status().complaints.some((words) => words.includes("of its log removes this node"))
        ? true
        : undefined,
    );
  });

  it("takes the place of what it was before its directory was wiped", async () => {
    const world = new World();
    const nodes = await world.found("a", "b", "c");
    await leaderOf(nodes);
    const [a, b, c] = nodes as [Running, Running, Running];
    const before = c.node.member;
    await c.stop();
    const anew = await joinTo(world, [a, b], "c");
    expect(anew.node.member).not.toBe(before);
    for (const running of [a, b, anew]) {
      await until("the new incarnation among the voters", () => {
        const voters = running.node.status().configuration?.voters.map((voter) => voter.id) ?? [];
        return voters.includes(anew.node.member) && !voters.includes(before) ? true : undefined;
      });
    }
  });
});

describe("a change of membership", () => {
  it("is refused in words, and only what is out of date is worth another try", async () => {
    const world = new World();
    const nodes = await world.found("a", "b", "c");
    const leader = await leaderOf(nodes);
    const id = leader.node.member;
    await leader.node.propose(encoder.encode("committed"));
    await expect(leader.node.changeMembers([{ kind: "promote", id }])).rejects.toMatchObject({
      code: "CHANGE_REFUSED",
      retryable: false,
      outcome: "none",
    });
    const ifIndex = asIndex(leader.node.status().configurationIndex + 1);
    await expect(leader.node.changeMembers([{ kind: "remove", id }], { ifIndex })).rejects.toMatchObject({
      code: "CHANGE_REFUSED",
      message: expect.stringContaining("list the members"),
    });
    const follower = nodes.find(({ node }) => node.status().role !== "leader");
    await expect(follower!.node.changeMembers([{ kind: "remove", id }])).rejects.toMatchObject({
      code: "NOT_LEADER",
      retryable: true,
    });
  });

  it("is told to observers when it is in force", async () => {
    const world = new World();
    const nodes = await world.found("a", "b", "c");
    const leader = await leaderOf(nodes);
    const seen: string[] = [];
    leader.node.observe((event) => {
      if (event.kind === "membershipChanged") seen.push(`${event.configuration.voters.length}`);
    });
    await leader.node.propose(encoder.encode("committed"));
    const other = nodes.find(({ node }) => node !== leader.node)!;
    await leader.node.changeMembers([{ kind: "demote", id: other.node.member }]);
    expect(seen).toContain("2");
    expect(leader.node.status().configuration?.learners.map((one) => one.id)).toEqual([other.node.member]);
  });
});
