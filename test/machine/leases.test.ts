/** Who holds what, case by case: grants, queues, claims, several names at once, and cancels. */
import { getLease, holdsLease, leaseSetOf, listCandidates } from "@quorate/kv/machine";
import { beforeEach, describe, expect, it } from "vitest";
import { createLog, type Log, put } from "./log.ts";
import { due, expire, Party } from "./party.ts";

let log: Log;
let a: Party;
let b: Party;
let c: Party;

beforeEach(() => {
  log = createLog();
  [a, b, c] = [new Party(log), new Party(log), new Party(log)];
});

function holderOf(name: string): number {
  return getLease(log.state, name).session;
}

describe("a lease", () => {
  it("is granted under the store's revision, which is its term, and rises with every grant", () => {
    log.run(put("k", "1"));
    expect(a.acquire("x")).toEqual({ kind: "leaseGranted", term: 2 });
    expect(log.state.revision).toBe(2);
    expect(a.release("x", 2)).toEqual({ kind: "leaseDone", term: 2 });
    expect(log.state.revision).toBe(2);
    expect(a.acquire("x")).toEqual({ kind: "leaseGranted", term: 3 });
    expect(getLease(log.state, "x")).toMatchObject({
      state: "held",
      transitions: 2,
      holder: `party ${a.id}`,
    });
  });

  it("goes to the next waiter in the entry that releases it, which has to claim it", () => {
    a.acquire("x");
    expect(b.acquire("x")).toEqual({ kind: "leaseQueued", ahead: 1 });
    expect(c.acquire("x")).toEqual({ kind: "leaseQueued", ahead: 2 });
    a.release("x", 1);
    expect(getLease(log.state, "x")).toMatchObject({ state: "granted", session: b.id, term: 2, waiting: 1 });
    expect(holdsLease(log.state, { name: "x", term: 2 })).toBe(false);
    expect(b.claim("x", 2)).toEqual({ kind: "leaseDone", term: 2 });
    expect(holdsLease(log.state, { name: "x", term: 2 })).toBe(true);
  });

  it("is passed on only as long as nobody has claimed it", () => {
    a.acquire("x");
    b.acquire("x");
    c.acquire("x");
    a.release("x", 1);
    due(log, "passOn", "x", 1);
    expect(holderOf("x")).toBe(b.id);
    due(log, "passOn", "x", 2);
    expect(getLease(log.state, "x")).toMatchObject({ session: c.id, term: 3 });
    expect(b.claim("x", 2)).toEqual({ kind: "leaseNotHeld", term: 3 });
    c.claim("x", 3);
    due(log, "passOn", "x", 3);
    expect(holderOf("x")).toBe(c.id);
  });

  it("is let go by timers of another term's leader under no circumstances", () => {
    a.acquire("x");
    b.acquire("x");
    a.release("x", 1);
    log.term = 2;
    due(log, "passOn", "x", 2, 1);
    expect(holderOf("x")).toBe(b.id);
  });

  it("is released by nobody but its holder, by the term of its grant", () => {
    a.acquire("x");
    expect(b.release("x", 1)).toEqual({ kind: "leaseNotHeld", term: 1 });
    expect(a.release("x", 7)).toEqual({ kind: "leaseNotHeld", term: 1 });
    a.release("x", 1);
    a.acquire("x");
    expect(a.release("x", 1)).toEqual({ kind: "leaseNotHeld", term: 2 });
    expect(holderOf("x")).toBe(a.id);
  });

  it("keeps what its holder proclaims, and tells it to everybody", () => {
    a.acquire("x");
    const data = Uint8Array.of(1, 2);
    const lease = { name: "x", term: 1 };
    expect(a.run({ kind: "describeLease", lease, data, format: "json" })).toEqual({
      kind: "leaseDone",
      term: 1,
    });
    expect(b.run({ kind: "describeLease", lease, data, format: "json" }).kind).toBe("leaseNotHeld");
    expect(getLease(log.state, "x")).toMatchObject({ data, format: "json", term: 1, transitions: 1 });
  });

  it("needs a session", () => {
    const refused = log.run({ kind: "releaseLease", lease: { name: "x", term: 1 } });
    expect(refused).toMatchObject({ kind: "malformed", reason: expect.stringContaining("session") });
  });
});

describe("waiting", () => {
  it("is by priority, and within one first come, first served", () => {
    a.acquire("x");
    b.acquire("x", { priority: 1 });
    c.acquire("x", { priority: 2 });
    const d = new Party(log);
    d.acquire("x", { priority: 1 });
    const order: number[] = [];
    for (let term = 1; term <= 4; term += 1) {
      order.push(holderOf("x"));
      const holder = [a, b, c, d].find(({ id }) => id === holderOf("x"));
      holder?.release("x", term);
    }
    expect(order).toEqual([a.id, c.id, b.id, d.id]);
  });

  it("is skipped by those whose session has ended (etcd#11456, #19597)", () => {
    a.acquire("x");
    b.acquire("x");
    c.acquire("x");
    expire(log, b);
    a.release("x", 1);
    expect(holderOf("x")).toBe(c.id);
  });

  it("for a higher priority asks the holder to hand over, if it says so", () => {
    a.acquire("x", { priority: 1 });
    b.acquire("x", { priority: 1, asksHandover: true });
    c.acquire("x", { priority: 2 });
    expect(getLease(log.state, "x").handover).toBe(false);
    c.acquire("x", { priority: 2, asksHandover: true });
    expect(getLease(log.state, "x").handover).toBe(true);
    expect(leaseSetOf(log.state, a.id)?.leases[0]).toMatchObject({ handover: true, ending: "none" });
  });

  it("is not what `tryAcquire` does, not even for a name that is free but waited for", () => {
    a.acquire("x");
    b.acquire(["x", "y"]);
    expect(c.acquire("y", { wait: false })).toEqual({ kind: "leaseUnavailable", at: 0, term: 0, holder: "" });
    expect(c.acquire(["z", "x"], { wait: false })).toEqual({
      kind: "leaseUnavailable",
      at: 1,
      term: 1,
      holder: `party ${a.id}`,
    });
    expect(getLease(log.state, "z").state).toBe("free");
  });
});

describe("a candidate that comes before the holder", () => {
  const candidate = { preference: 2, version: "1.2.3", zone: "eu-1" };

  it("is who was preferred, whatever its priority, and then who has the higher one", () => {
    a.acquire("x");
    b.acquire("x", { priority: 9 });
    c.acquire("x", { priority: -1, candidate });
    const d = new Party(log);
    d.acquire("x", { candidate: { ...candidate, zone: "eu-2" } });
    const { candidates } = listCandidates(log.state, "x", 10);
    expect(candidates.map(({ session, state }) => [session, state])).toEqual([
      [a.id, "held"],
      [d.id, "waiting"],
      [c.id, "waiting"],
      [b.id, "waiting"],
    ]);
    expect(candidates[2]).toEqual({
      ...candidate,
      session: c.id,
      holder: `party ${c.id}`,
      priority: -1,
      state: "waiting",
    });
    expect(listCandidates(log.state, "x", 2)).toEqual({ candidates: candidates.slice(0, 2), more: true });
    a.release("x", 1);
    expect(holderOf("x")).toBe(d.id);
  });

  it("takes the lease from it where it says so; it is granted when the leader says that its time is over", () => {
    a.acquire("x", { priority: 1 });
    b.acquire("x", { priority: 1, preempts: true });
    expect(getLease(log.state, "x").state).toBe("held");
    expect(c.acquire("x", { priority: 2, preempts: true })).toEqual({ kind: "leaseQueued", ahead: 1 });
    expect(getLease(log.state, "x")).toMatchObject({
      state: "ending",
      session: a.id,
      term: 1,
      handover: true,
    });
    expect(leaseSetOf(log.state, a.id)?.leases[0]).toMatchObject({ term: 1, ending: "preempted" });
    expect(holdsLease(log.state, { name: "x", term: 1 })).toBe(true);
    due(log, "finish", "x", 1);
    expect(getLease(log.state, "x")).toMatchObject({ state: "granted", session: c.id, term: 2 });
  });

  it("has it at once from one that does not know that it was granted", () => {
    a.acquire("x");
    b.acquire("x");
    a.release("x", 1);
    expect(getLease(log.state, "x")).toMatchObject({ state: "granted", session: b.id, term: 2 });
    expect(c.acquire("x", { priority: 1, preempts: true })).toEqual({ kind: "leaseGranted", term: 3 });
    expect(b.claim("x", 2)).toEqual({ kind: "leaseNotHeld", term: 3 });
  });

  it("leaves several names alone of which one is held by somebody better", () => {
    a.acquire("x");
    b.acquire("y", { priority: 5 });
    c.acquire(["x", "y"], { priority: 1, preempts: true });
    expect([getLease(log.state, "x").state, getLease(log.state, "y").state]).toEqual(["held", "held"]);
    const d = new Party(log);
    d.acquire(["x", "y"], { priority: 6, preempts: true });
    expect([getLease(log.state, "x").state, getLease(log.state, "y").state]).toEqual(["ending", "ending"]);
  });
});

describe("several names", () => {
  it("are granted all together or not at all, under one term", () => {
    a.acquire("x");
    b.acquire(["x", "y"]);
    expect(holderOf("y")).toBe(0);
    c.acquire("y");
    a.release("x", 1);
    expect([getLease(log.state, "x"), getLease(log.state, "y")]).toMatchObject([
      { session: b.id, term: 2 },
      { session: b.id, term: 2 },
    ]);
    b.claim("y", 2);
    expect(getLease(log.state, "x").state).toBe("held");
    b.release("x", 2);
    expect([holderOf("x"), holderOf("y")]).toEqual([0, c.id]);
  });

  it("never make waiters wait for each other in a circle", () => {
    a.acquire("x");
    b.acquire("y");
    c.acquire(["x", "y"]);
    const d = new Party(log);
    d.acquire(["y", "x"]);
    b.release("y", 2);
    a.release("x", 1);
    expect([holderOf("x"), holderOf("y")]).toEqual([c.id, c.id]);
    c.release("x", 3);
    expect([holderOf("x"), holderOf("y")]).toEqual([d.id, d.id]);
  });
});

describe("a cancel", () => {
  it("takes back the place, or the grant, whichever is there", () => {
    a.acquire("x");
    b.acquire("x", {}, 5);
    b.run({ kind: "cancelAcquire", sequence: 5 }, 6);
    expect(getLease(log.state, "x").waiting).toBe(0);
    b.acquire("x", {}, 7);
    a.release("x", 1);
    expect(holderOf("x")).toBe(b.id);
    expect(b.run({ kind: "cancelAcquire", sequence: 7 }, 8)).toEqual({ kind: "acquireCancelled" });
    expect(getLease(log.state, "x").state).toBe("free");
  });

  it("that arrives before its acquire is that one's answer", () => {
    b.run({ kind: "cancelAcquire", sequence: 5 }, 6);
    expect(b.acquire("x", {}, 5)).toEqual({ kind: "acquireCancelled" });
    expect(getLease(log.state, "x").state).toBe("free");
  });

  it("leaves the stored answer of an acquire that had one", () => {
    const granted = b.acquire("x", {}, 5);
    b.run({ kind: "cancelAcquire", sequence: 5 }, 6);
    expect(b.acquire("x", {}, 5)).toEqual(granted);
    expect(getLease(log.state, "x").state).toBe("free");
  });
});
