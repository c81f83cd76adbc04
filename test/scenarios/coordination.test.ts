/**
 * Bugs that other coordination services and their clients had, each played as it was seen there. Which test plays which
 * of the others is in coordinationCoverage.ts.
 */
import { HeldLease, type HeldLeaseFacts, type LeaseActs } from "@quorate/client/internal";
import { encodeProposal, type RequestBody, type SessionLease } from "@quorate/client/protocol";
import { createMachineHost, SessionClock, type Verdict } from "@quorate/kv/internal";
import { getLease } from "@quorate/kv/machine";
import { type Clock, silentLogger } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import { errorFrom, FakeCluster, failed, passing } from "../client/fakeCluster.ts";
import { manyTimers } from "../client/manyTimers.ts";
import { FakeRaftNode } from "../kv/fakeRaftNode.ts";
import { createLog } from "../machine/log.ts";
import { due, expire, Party } from "../machine/party.ts";
import { settle } from "../transport/world.ts";

const sessionTtlMs = 4_000;
/** Less drift and margin. */
const allowanceMs = 3_720;

function isRenewal({ kind }: RequestBody): boolean {
  return kind === "renew" || kind === "keepAlive";
}

describe("a holder", () => {
  it("kubernetes#23731: whose renewals fail is lost by its own deadline, whatever it is answered", async () => {
    const nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect({ sessionTtlMs });
    const lease = await passing(nodes.clock, 5_000, cluster.lease.acquire("x"));
    for (const node of nodes.nodes) {
      node.behave = ({ body }, honest) =>
        isRenewal(body) ? failed("OVERLOADED", { retryable: true }) : honest();
    }
    await nodes.clock.pass(allowanceMs);
    expect(lease.signal.aborted).toBe(true);
    expect(lease.status).toBe("lost");
    expect(() => lease.check()).toThrow(/not held any more/);
  });

  it("consul PR 912, etcd#15922: keeps its lease over renewals that failed, and says that it is in jeopardy", async () => {
    const nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect({ sessionTtlMs });
    const lease = await passing(nodes.clock, 5_000, cluster.lease.acquire("x"));
    let jeopardies = 0;
    lease.onJeopardy(() => {
      jeopardies += 1;
    });
    for (const node of nodes.nodes) {
      node.behave = ({ body }, honest) => (isRenewal(body) ? "hang up" : honest());
    }
    await nodes.clock.pass(2_800);
    expect([lease.status, jeopardies]).toEqual(["jeopardy", 1]);
    for (const node of nodes.nodes) node.behave = (_request, honest) => honest();
    await nodes.clock.pass(10_000);
    expect([lease.status, jeopardies]).toEqual(["held", 1]);
    lease.check();
  });

  it("CURATOR-678: whose release fails goes on until it is released, and the next one has it", async () => {
    const nodes = await FakeCluster.start(3);
    await using a = nodes.connect({ sessionTtlMs });
    await using b = nodes.connect({ sessionTtlMs });
    const lease = await passing(nodes.clock, 5_000, a.lease.acquire("x"));
    const next = b.lease.acquire("x");
    await nodes.clock.pass(500);
    let isFailing = true;
    let failures = 0;
    for (const node of nodes.nodes) {
      node.behave = ({ body }, honest) => {
        if (body.kind !== "execute" || !isFailing) return honest();
        failures += 1;
        return failed("OVERLOADED", { retryable: true });
      };
    }
    const refused = errorFrom(lease.release({ timeoutMs: 1_000 }));
    expect(() => lease.check()).toThrow(/not held any more/);
    await nodes.clock.pass(20_000);
    expect(await refused).toMatchObject({ code: "TIMED_OUT" });
    expect([failures > 10, getLease(nodes.store, "x").term]).toEqual([true, lease.term]);
    isFailing = false;
    const taken = await passing(nodes.clock, 20_000, next);
    expect(taken.term).toBeGreaterThan(lease.term);
  });
});

describe("one that waits", () => {
  it("etcd#11456, #19597: and whose session ends meanwhile is told so, and another is granted", async () => {
    const nodes = await FakeCluster.start(3);
    await using a = nodes.connect({ sessionTtlMs });
    await using b = nodes.connect({ sessionTtlMs });
    await using c = nodes.connect({ sessionTtlMs });
    const held = await passing(nodes.clock, 5_000, a.lease.acquire("x"));
    const dead = errorFrom(b.lease.acquire("x"));
    await nodes.clock.pass(500);
    const next = c.lease.acquire("x");
    await nodes.clock.pass(500);
    const [, session] = [...nodes.store.sessions.keys()];
    const command = {
      kind: "expireSessions",
      office: nodes.term,
      sessions: [{ session: session!, renewals: 0 }],
    } as const;
    nodes.apply(encodeProposal({ origin: { kind: "anonymous" }, command }));
    void held.release();
    const taken = await passing(nodes.clock, 20_000, next);
    expect(await passing(nodes.clock, 20_000, dead)).toMatchObject({ code: "SESSION_ENDED" });
    expect(getLease(nodes.store, "x")).toMatchObject({ term: taken.term, transitions: 2, waiting: 0 });
  });

  it("client-go#1187: and gives up never runs its work, nor its end", async () => {
    const nodes = await FakeCluster.start(3);
    await using a = nodes.connect({ sessionTtlMs });
    await using b = nodes.connect({ sessionTtlMs });
    await using c = nodes.connect({ sessionTtlMs });
    const held = await passing(nodes.clock, 5_000, a.lease.acquire("x"));
    const abort = new AbortController();
    let runs = 0;
    const leading = b.election("x").lead(
      () => {
        runs += 1;
      },
      { signal: abort.signal },
    );
    const acquiring = c.lease.acquire("x", { signal: abort.signal });
    const refused = Promise.all([errorFrom(leading), errorFrom(acquiring)]);
    await nodes.clock.pass(1_000);
    expect(getLease(nodes.store, "x").waiting).toBe(2);
    abort.abort();
    const both = await passing(nodes.clock, 5_000, refused);
    expect(both.map(({ code }) => code)).toEqual(["ABORTED", "ABORTED"]);
    await passing(nodes.clock, 5_000, held.release());
    await nodes.clock.pass(2_000);
    expect(runs).toBe(0);
    expect(getLease(nodes.store, "x")).toMatchObject({ state: "free", transitions: 1 });
  });
});

const acts: LeaseActs = {
  renew: () => Promise.resolve(),
  release: () => Promise.resolve(),
  giveUp: () => {},
  proclaim: () => Promise.resolve(),
  checkpoint: () => Promise.resolve(),
  lastCheckpoint: () => Promise.resolve(undefined),
};
const named: SessionLease = { sequence: 1, term: 1, claimed: true, ending: "none", handover: false };

/** Of a process that is kept busy: it looks at the time when it is asked to, and no timer of it runs. */
function busy(clock: Clock): Clock {
  return { ...clock, after: () => () => {} };
}

function heldOn(clock: Clock): HeldLease {
  const session = { leave: () => {} } as unknown as HeldLeaseFacts["session"];
  return new HeldLease(clock, acts, {
    names: ["x"],
    term: 1,
    sequence: 1,
    session,
    allowanceMs,
    progressMs: undefined,
    isManual: false,
    recentBootMs: () => clock.bootMs(),
  });
}

describe("the deadline of a holder", () => {
  it("redlock#296: counts from the sending, so an answer that comes too late gives none", () => {
    const clock = manyTimers();
    const lease = heldOn(clock);
    const sentMs = clock.bootMs();
    clock.stall(allowanceMs);
    lease.renewed(sentMs, named);
    expect(lease.isConfirmed).toBe(false);
    clock.stall(1_000);
    const nextMs = clock.bootMs();
    clock.stall(500);
    lease.renewed(nextMs, named);
    expect(lease.check().remainingMs).toBe(allowanceMs - 500);
  });

  it("awslabs PR 116, kubernetes#131867: is not moved by an answer that comes after it, or after the release", () => {
    const clock = manyTimers();
    const [late, released] = [heldOn(busy(clock)), heldOn(busy(clock))];
    const sentMs = clock.bootMs();
    for (const lease of [late, released]) lease.renewed(sentMs, named);
    clock.stall(1_000);
    void released.release();
    released.renewed(sentMs + 1_000, named);
    expect(() => released.check()).toThrow(/released/);
    clock.stall(allowanceMs);
    late.renewed(sentMs + 2_000, named);
    expect(() => late.check()).toThrow(/not held any more/);
    expect(late.status).toBe("lost");
  });

  it("redlock#253: is announced by the signal before it, not after", async () => {
    const clock = manyTimers();
    const lease = heldOn(clock);
    const deadlineMs = clock.bootMs() + allowanceMs;
    lease.renewed(clock.bootMs(), named);
    let abortedMs = Number.POSITIVE_INFINITY;
    lease.signal.addEventListener("abort", () => {
      abortedMs = clock.bootMs();
    });
    await clock.pass(2 * allowanceMs);
    expect(abortedMs).toBeLessThan(deadlineMs);
    expect(abortedMs).toBeGreaterThan(deadlineMs - 100);
  });

  it("nodejs/node#47724: passes while the machine sleeps, and the loss says so", () => {
    const clock = manyTimers();
    const monotonicMs = clock.nowMs();
    const lease = heldOn(busy({ ...clock, nowMs: () => monotonicMs }));
    lease.renewed(clock.bootMs(), named);
    clock.stall(allowanceMs);
    expect(() => lease.check()).toThrow(expect.objectContaining({ reason: "suspended" }));
  });
});

describe("the machine", () => {
  it("CURATOR-604, #620, #696: gives a process that came back nothing of its old session's", () => {
    const log = createLog();
    const [old, other] = [new Party(log), new Party(log)];
    old.acquire("x");
    other.acquire("y");
    expire(log, old);
    const back = new Party(log);
    expect(back.acquire("x")).toEqual({ kind: "leaseGranted", term: 3 });
    expect(old.acquire("y")).toEqual({ kind: "sessionEnded" });
    expect(old.release("x", 3)).toEqual({ kind: "sessionEnded" });
    expect(back.release("x", 1)).toEqual({ kind: "leaseNotHeld", term: 3 });
    due(log, "passOn", "x", 1);
    expect(getLease(log.state, "x")).toMatchObject({ session: back.id, term: 3, state: "held" });
  });
});

describe("a keep-alive", () => {
  it("etcd PR 13932: that arrives before the entry that opens its session is judged after it", async () => {
    const clock = manyTimers();
    const host = createMachineHost();
    const node = new FakeRaftNode(host.machine);
    const ports = { node, clock, logger: silentLogger, store: host.store };
    const options = {
      heartbeatMs: 50,
      electionTimeoutMinMs: 150,
      maxExpiriesAtOnce: 8,
      maxExpiriesUnderWay: 2,
    };
    const sessionClock = new SessionClock(ports, options);
    await settle();
    const verdicts: Verdict[] = [];
    const judge = sessionClock.keepAlive(1, (verdict) => verdicts.push(verdict));
    const command = { kind: "openSession", ttlMs: sessionTtlMs } as const;
    node.commit(encodeProposal({ origin: { kind: "anonymous" }, command }));
    judge(await node.readIndex());
    expect(verdicts).toEqual(["alive"]);
    sessionClock.stop();
  });
});
