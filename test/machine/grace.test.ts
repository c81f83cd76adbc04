/** A store that was made of another one: nothing is granted until its leader says that the grace period is over. */
import {
  beginGrace,
  getLease,
  graceNeeded,
  graceNotice,
  hashState,
  restoreContent,
  type StoreState,
  viewOf,
  writeContent,
} from "@quorate/kv/machine";
import { beforeEach, describe, expect, it } from "vitest";
import { createLog, type Log, put } from "./log.ts";
import { due, expire, Party } from "./party.ts";

const graceMs = 20_000;

let log: Log;
let a: Party;
let b: Party;

beforeEach(() => {
  log = createLog();
  beginGrace(log.state, graceMs);
  [a, b] = [new Party(log), new Party(log)];
});

function endGrace(office: number = log.term): void {
  log.run({ kind: "endGrace", office });
}

function restoredFrom(state: StoreState): StoreState {
  const restoration = restoreContent();
  for (const piece of writeContent(viewOf(state), 20)) restoration.add(piece);
  return restoration.finish();
}

describe("in the grace period", () => {
  it("nothing is granted: who waits takes its place, and has to claim what it is granted afterwards", () => {
    expect(a.acquire("x")).toEqual({ kind: "leaseQueued", ahead: 0 });
    expect(b.acquire("x")).toEqual({ kind: "leaseQueued", ahead: 1 });
    expect(b.acquire(["y", "z"])).toEqual({ kind: "leaseQueued", ahead: 0 });
    expect(getLease(log.state, "x")).toMatchObject({ state: "delayed", session: 0, term: 0, waiting: 2 });
    const before = log.state.revision;
    endGrace();
    expect(getLease(log.state, "x")).toMatchObject({ state: "granted", session: a.id, waiting: 1 });
    expect(getLease(log.state, "y")).toMatchObject({ state: "granted", session: b.id });
    expect(log.state.revision).toBe(before + 1);
    expect(a.claim("x", before + 1)).toEqual({ kind: "leaseDone", term: before + 1 });
  });

  it("who does not wait is told how long that may take, also of a name that nobody ever heard of", () => {
    expect(a.acquire("x", { wait: false })).toEqual({ kind: "gracePeriod", forMs: graceMs });
    expect(getLease(log.state, "x")).toMatchObject({ state: "delayed", waiting: 0 });
    endGrace();
    expect(getLease(log.state, "x").state).toBe("free");
    expect(a.acquire("x", { wait: false }).kind).toBe("leaseGranted");
  });

  it("nothing else frees a lease: no release of a place, no end of a session or of a lock delay, no break", () => {
    a.acquire("x");
    b.acquire("x");
    const c = new Party(log);
    c.acquire("x", { priority: 1, preempts: true });
    expire(log, c);
    expect(log.run({ kind: "breakLease", name: "x", afterMs: 0, force: true }).kind).toBe("leaseNotHeld");
    due(log, "endDelay", "x", 1);
    a.run({ kind: "cancelAcquire", sequence: 1 });
    expect(getLease(log.state, "x")).toMatchObject({ state: "delayed", session: 0, waiting: 1 });
    endGrace();
    expect(getLease(log.state, "x")).toMatchObject({ state: "granted", session: b.id });
  });

  it("keys are written as ever", () => {
    expect(log.run(put("k", "v")).kind).toBe("put");
  });

  it("only the leader that counted it ends it, and once it is over that says nothing", () => {
    a.acquire("x");
    log.term = 2;
    endGrace(1);
    expect(getLease(log.state, "x").state).toBe("delayed");
    endGrace();
    expect(getLease(log.state, "x").state).toBe("granted");
    const digest = hashState(log.state);
    endGrace();
    expect(hashState(log.state)).toBe(digest);
  });

  it("a lease whose last holder asked for a lock delay waits for that as well", () => {
    endGrace();
    a.acquire("x", { lockDelayMs: 500 });
    expire(log, a);
    beginGrace(log.state, graceMs);
    b.acquire("x");
    endGrace();
    expect(getLease(log.state, "x")).toMatchObject({ state: "delayed", waiting: 1 });
    due(log, "endDelay", "x", getLease(log.state, "x").term);
    expect(getLease(log.state, "x")).toMatchObject({ state: "granted", session: b.id });
  });

  it("a snapshot and the digest have it, and people are told", () => {
    a.acquire("x");
    const restored = restoredFrom(log.state);
    expect(restored.graceMs).toBe(graceMs);
    expect(hashState(restored)).toBe(hashState(log.state));
    expect(graceNotice(restored)).toContain("until 20000 ms after its leader took office");
    const digest = hashState(restored);
    beginGrace(restored, graceMs + 1);
    expect(hashState(restored)).not.toBe(digest);
  });

  it("a state in which it is over writes nothing of it, as a release that knows nothing of it expects", () => {
    endGrace();
    const tags = [...writeContent(viewOf(log.state))].slice(1).map((frame) => frame[0]);
    expect(tags).not.toContain(13);
    expect(restoredFrom(log.state).graceMs).toBe(0);
    expect(graceNotice(log.state)).toBeUndefined();
  });
});

describe("from the version on that bounds what one entry does", () => {
  it("its end grants nothing by itself: the leader grants in portions, in the order of each queue", () => {
    a.acquire("x");
    b.acquire(["x", "y"]);
    due(log, "grant", "x", 1);
    expect(getLease(log.state, "x").state).toBe("delayed");
    log.run({ kind: "raiseVersion", office: log.term, version: 3 });
    a.acquire("z");
    const before = log.state.revision;
    endGrace();
    expect(getLease(log.state, "x")).toMatchObject({ state: "free", session: 0, waiting: 2 });
    expect(log.state.revision).toBe(before);
    expect(b.acquire("x", { wait: false }).kind).toBe("leaseUnavailable");
    due(log, "grant", "y", 1);
    expect(getLease(log.state, "y")).toMatchObject({ session: 0, waiting: 1 });
    due(log, "grant", "x", 1);
    expect(getLease(log.state, "x")).toMatchObject({ state: "granted", session: a.id, term: before + 1 });
    // Whoever comes to a name meanwhile takes his place behind those who wait, and they are granted then.
    expect(b.acquire("z")).toEqual({ kind: "leaseQueued", ahead: 1 });
    expect(getLease(log.state, "z")).toMatchObject({ state: "granted", session: a.id });
    const restored = restoredFrom(log.state);
    expect(hashState(restored)).toBe(hashState(log.state));
  });

  it("so does an administrator who grants at once", () => {
    log.run({ kind: "raiseVersion", office: log.term, version: 3 });
    a.acquire("x");
    expect(log.run({ kind: "grantAtOnce" })).toEqual({ kind: "gracePeriod", forMs: graceMs });
    due(log, "grant", "x", 1);
    expect(getLease(log.state, "x")).toMatchObject({ state: "granted", session: a.id });
  });
});

describe("how long it has to be", () => {
  it("is the longest finite time to live of the sessions, and the default at least", () => {
    const old = createLog();
    expect(graceNeeded(old.state)).toBe(15_000);
    new Party(old, 2_000);
    expect(graceNeeded(old.state)).toBe(15_000);
    new Party(old, 60_000);
    new Party(old, Number.POSITIVE_INFINITY);
    expect(graceNeeded(old.state)).toBe(60_000);
  });

  it("is no shorter than one that was not over when the store was saved", () => {
    const old = createLog();
    beginGrace(old.state, 60_000);
    expect(graceNeeded(old.state)).toBe(60_000);
  });
});
