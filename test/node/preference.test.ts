/** Preferred nodes: to whom a leader hands over, when, how often; and that it happens on whole nodes. */
import { type MemberId, QuorateError } from "@quorate/raft";
import { Preference } from "@quorate/raft/internal";
import { memoryNetwork } from "@quorate/transport/links";
import { describe, expect, it } from "vitest";
import { manyTimers } from "../client/manyTimers.ts";
import {
  advance,
  campaign,
  createCluster,
  idOf,
  nameOf,
  nodeOf,
  partition,
  propose,
} from "../core/cluster.ts";
import { openMemoryLog, runNode, untilWithin } from "./memoryNode.ts";

const second = 1_000;

/** The preference of a, of priority 2, that leads b and c. */
function preferenceOfA(theirs: Record<string, number | undefined>, transfer?: () => Promise<void>) {
  const cluster = createCluster({ nodes: ["a", "b", "c"] });
  campaign(cluster, "a");
  advance(cluster, 100);
  const clock = manyTimers();
  const offers: { readonly to: string; readonly atMs: number }[] = [];
  const startMs = clock.nowMs();
  const preference = new Preference({
    clock,
    priority: 2,
    priorityOf: (peer: MemberId) => theirs[nameOf(peer)],
    state: () => nodeOf(cluster, "a").state,
    async transfer(target) {
      offers.push({ to: nameOf(target), atMs: clock.nowMs() - startMs });
      await transfer?.();
    },
  });
  return { cluster, clock, offers, preference, theirs };
}

const refused = async (): Promise<void> => {
  throw new QuorateError("TRANSFER_FAILED", "It did not take over.", { retryable: true });
};

describe("a leader", () => {
  it("hands over to the voter of the highest priority after two seconds", async () => {
    const { clock, offers, preference } = preferenceOfA({ b: 3, c: 9 });
    preference.look();
    await clock.pass(1_999);
    expect(offers).toEqual([]);
    await clock.pass(1);
    expect(offers).toEqual([{ to: "c", atMs: 2 * second }]);
    preference.stop();
  });

  it("waits for nobody of its own priority or less, and arms no timer", () => {
    const { clock, preference } = preferenceOfA({ b: 2, c: 1 });
    preference.look();
    expect(clock.timers).toBe(0);
  });

  it("passes over one to whom no link stands", async () => {
    const { clock, offers, preference } = preferenceOfA({ b: 3, c: undefined });
    preference.look();
    await clock.pass(2 * second);
    expect(offers.map(({ to }) => to)).toEqual(["b"]);
    preference.stop();
  });

  it("passes over one that it has not heard for an election timeout, or that is far behind", async () => {
    const { cluster, clock, offers, preference } = preferenceOfA({ c: 9 });
    partition(cluster, ["a", "b"], ["c"]);
    for (let n = 0; n < 1_100; n += 1) propose(cluster, "a", "x");
    advance(cluster, 200);
    expect(nodeOf(cluster, "a").state.role).toBe("leader");
    preference.look();
    await clock.pass(2 * second);
    expect(offers).toEqual([]);
    preference.stop();
  });

  it("offers it ever more seldom to one that does not take it", async () => {
    const { clock, offers, preference } = preferenceOfA({ b: 3 }, refused);
    preference.look();
    await clock.pass(40 * second);
    expect(offers.map(({ atMs }) => atMs)).toEqual([2, 6, 14, 30].map((at) => at * second));
    preference.stop();
    expect(clock.timers).toBe(0);
  });

  it("offers nothing once it leads no more", async () => {
    const { cluster, clock, offers, preference } = preferenceOfA({ b: 3 });
    preference.look();
    campaign(cluster, "b");
    advance(cluster, 100);
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "follower", leader: idOf("b") });
    preference.look();
    expect(clock.timers).toBe(0);
    await clock.pass(10 * second);
    expect(offers).toEqual([]);
  });
});

it("of three nodes the preferred one leads in the end, whoever is elected", async () => {
  const until = untilWithin(20_000);
  const network = memoryNetwork();
  const names = ["a", "b", "c"];
  const nodes = await Promise.all(
    names.map(async (name) => {
      const log = await openMemoryLog(name);
      return runNode(network, log, names, { options: { priority: name === "c" ? 10 : 1 } });
    }),
  );
  try {
    await until("c leads", () => (nodes[2]?.node.status().role === "leader" ? true : undefined));
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
});
