/** Whoever campaigns for a lease, or acquires one, goes on through refusals of a moment, and ends of sessions. */
import { decodeProposal, encodeProposal, type RequestBody } from "@quorate/client/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { errorFrom, FakeCluster, passing } from "./fakeCluster.ts";

let nodes: FakeCluster;

afterEach(() => {
  expect(nodes.clock.timers).toBe(0);
});

function commandOf(body: RequestBody): string | undefined {
  if (body.kind !== "execute") return undefined;
  const decoded = decodeProposal(body.proposal);
  return decoded.kind === "malformed" ? undefined : decoded.proposal.command.kind;
}

/** As the leader does with a session that it has not heard for its time to live. */
function expire(session: number): void {
  const command = { kind: "expireSession", session, term: nodes.term } as const;
  nodes.apply(encodeProposal({ origin: { kind: "anonymous" }, command }));
}

function newestSession(): number {
  return Math.max(...nodes.store.sessions.keys());
}

describe("a candidate", () => {
  it("whose claim may have been executed before its session ended stands again", async () => {
    nodes = await FakeCluster.start(2);
    await using a = nodes.connect();
    await using b = nodes.connect();
    const held = await a.lease.acquire("x");
    let claims = 0;
    nodes.node("a").behave = ({ body }, honest) => {
      if (commandOf(body) !== "claimLease") return honest();
      claims += 1;
      honest();
      expire(newestSession());
      nodes.elect("b");
      return "hang up";
    };
    const terms: number[] = [];
    const led = b.election("x").lead((lease) => {
      terms.push(lease.term);
      return "done";
    });
    await passing(nodes.clock, 100, Promise.resolve());
    await held.release();
    expect(await passing(nodes.clock, 15_000, led)).toBe("done");
    expect(claims).toBe(1);
    expect(terms[0]).toBeGreaterThan(held.term + 1);
  });

  it("that is refused for the moment tries again with pauses", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    let refusals = 0;
    nodes.node("a").behave = ({ body }, honest) => {
      if (commandOf(body) !== "acquireLease" || refusals >= 1_000) return honest();
      refusals += 1;
      return {
        kind: "executed",
        result: { kind: "refused", reason: "10,000 wait for the lease, its limit." },
      };
    };
    const led = cluster.election("x").lead(() => "done");
    await passing(nodes.clock, 10_000, Promise.resolve());
    expect(refusals).toBeGreaterThan(5);
    expect(refusals).toBeLessThan(50);
    refusals = 1_000;
    expect(await passing(nodes.clock, 2_000, led)).toBe("done");
  });

  it("ends at once with its signal, also while it pauses", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    nodes.node("a").behave = ({ body }, honest) =>
      commandOf(body) === "acquireLease"
        ? { kind: "executed", result: { kind: "refused", reason: "10,000 wait for the lease, its limit." } }
        : honest();
    const stop = new AbortController();
    const led = cluster.election("x").lead(() => "done", { signal: stop.signal });
    const refused = expect(led).rejects.toMatchObject({ code: "ABORTED" });
    await passing(nodes.clock, 5_000, Promise.resolve());
    stop.abort();
    await refused;
  });
});

describe("a leader", () => {
  it("whose session has ended is told so by what it proclaims, not of a break", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    const lease = await cluster.election("x").campaign();
    nodes.node("a").behave = ({ body }, honest) => {
      if (commandOf(body) === "describeLease") expire(newestSession());
      return honest();
    };
    const proclaimed = lease.proclaim("late");
    await expect(passing(nodes.clock, 100, proclaimed)).rejects.toMatchObject({
      code: "LEASE_LOST",
      reason: "expired",
    });
  });
});

describe("an acquire that is given up", () => {
  it("while nobody answers it says that it is taken back, and is", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 1);
    nodes.node("a").behave = ({ body }, honest) => {
      const answer = honest();
      return commandOf(body) === "acquireLease" ? "silence" : answer;
    };
    const asked = errorFrom(passing(nodes.clock, 500, cluster.lease.acquire("x", { timeoutMs: 100 })));
    expect(await asked).toMatchObject({
      code: "TIMED_OUT",
      outcome: "unknown",
      message: expect.stringContaining("It may have taken effect: it is taken back"),
    });
    await nodes.clock.pass(100);
    expect(await cluster.lease.get("x")).toMatchObject({ state: "free", transitions: 1 });
  });
});

describe("an acquire without an end", () => {
  it("opens another session where that by which it was opening one has ended meanwhile", async () => {
    nodes = await FakeCluster.start(2);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 1);
    const writes = newestSession();
    nodes.node("a").behave = ({ body }, honest) => {
      if (commandOf(body) !== "openSession") return honest();
      honest();
      expire(writes);
      nodes.elect("b");
      return "hang up";
    };
    const acquired = cluster.lease.acquire("x", { ttlMs: Number.POSITIVE_INFINITY });
    const lease = await passing(nodes.clock, 2_000, acquired);
    expect(lease.check().remainingMs).toBe(Number.POSITIVE_INFINITY);
    await lease.release();
  });
});
