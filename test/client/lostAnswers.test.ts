/** Every answer to every request that changes something is lost once, after it was applied; all ends exact. */
import type { RequestBody } from "@quorate/client/protocol";
import { getLease } from "@quorate/kv/machine";
import { afterEach, describe, expect, it } from "vitest";
import { FakeCluster, passing } from "./fakeCluster.ts";

let nodes: FakeCluster;

afterEach(() => {
  expect(nodes.clock.timers).toBe(0);
});

/** Applied, and the connection lost before the answer, the first time that it comes. */
function loseEachAnswerOnce(): { lost: number } {
  const seen = new Set<string>();
  const count = { lost: 0 };
  for (const node of nodes.nodes) {
    node.behave = (request, honest) => {
      const shown = keyOf(request.body);
      if (shown === undefined || seen.has(shown)) return honest();
      seen.add(shown);
      const answer = honest();
      if (answer.kind === "failed") return answer;
      count.lost += 1;
      return "hang up";
    };
  }
  return count;
}

let renewals = 0;

function keyOf(body: RequestBody): string | undefined {
  if (body.kind === "execute") return Buffer.from(body.proposal).toString("hex");
  if (body.kind !== "renew" && body.kind !== "keepAlive") return undefined;
  // Each renewal is one of its own; every second one is lost.
  renewals += 1;
  return `${body.kind} ${Math.floor(renewals / 2)}`;
}

describe("while each answer is lost once", () => {
  it("counters are exact", async () => {
    nodes = await FakeCluster.start(3);
    const { clock } = nodes;
    const count = loseEachAnswerOnce();
    await using cluster = nodes.connect();
    for (let n = 0; n < 30; n += 1) {
      const before = await passing(clock, 5_000, cluster.kv.get("n"));
      const condition = before === undefined ? { ifAbsent: true } : { ifRevision: before.modRevision };
      await passing(
        clock,
        5_000,
        cluster.kv.put("n", ((before?.value as number | undefined) ?? 0) + 1, condition),
      );
    }
    expect(await passing(clock, 5_000, cluster.kv.get("n"))).toMatchObject({ value: 30, version: 30 });
    expect(count.lost).toBeGreaterThan(30);
  });

  it("leases are granted, waited for, and given back, each exactly once", async () => {
    nodes = await FakeCluster.start(3);
    const { clock } = nodes;
    const count = loseEachAnswerOnce();
    await using a = nodes.connect();
    await using b = nodes.connect();
    const terms: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      const first = await passing(clock, 20_000, a.lease.acquire("x"));
      const waiting = b.lease.acquire("x");
      await clock.pass(1_000);
      expect(getLease(nodes.store, "x")).toMatchObject({ waiting: 1, term: first.term });
      first.check();
      await passing(clock, 20_000, first.release());
      const second = await passing(clock, 40_000, waiting);
      terms.push(first.term, second.term);
      await passing(clock, 20_000, second.release());
    }
    expect(getLease(nodes.store, "x")).toMatchObject({ state: "free", transitions: 20 });
    expect(terms).toEqual([...terms].sort((one, other) => one - other));
    expect(count.lost).toBeGreaterThan(50);
    for (const session of nodes.store.sessions.values()) expect(session.acquisitions.size).toBe(0);
  });
});
