/** The leader's timers of leases, in virtual time, on a leader that does what the test says. */
import { type Command, encodeProposal, type LeaseReport, type Origin } from "@quorate/client/protocol";
import { createMachineHost, LeaseClock, type MachineHost } from "@quorate/kv/internal";
import { beginGrace, getLease } from "@quorate/kv/machine";
import { QuorateError, silentLogger } from "@quorate/raft";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ManyTimers, manyTimers } from "../client/manyTimers.ts";
import { acquireCommand } from "../machine/party.ts";
import { settle } from "../transport/world.ts";
import { FakeRaftNode } from "./fakeRaftNode.ts";

const ttlMs = 4_000;
const claimWindowMs = 1_000;

let clock: ManyTimers;
let host: MachineHost;
let node: FakeRaftNode;
let leaseClock: LeaseClock;
let heardMs: number;
let sequence: number;

beforeEach(() => {
  clock = manyTimers();
  host = createMachineHost();
  node = new FakeRaftNode(host.machine);
  heardMs = clock.bootMs();
  sequence = 0;
  leaseClock = new LeaseClock(
    { node, clock, logger: silentLogger, store: host.store, heardMs: () => heardMs },
    { claimWindowMs, retryMs: 200 },
  );
  host.onLeasesChanged = ({ leases }) => leaseClock.changed(leases);
  host.onApplied = () => leaseClock.applied();
  leaseClock.begin(1);
});

afterEach(() => {
  leaseClock.end();
  expect(clock.timers).toBe(0);
});

function commit(command: Command, session?: number): void {
  sequence += 1;
  const origin: Origin =
    session === undefined ? { kind: "anonymous" } : { kind: "session", session, sequence, ackedBelow: 1 };
  node.commit(encodeProposal({ origin, command }));
}

/** Sessions 1 to 3 of whom the first holds `x` under term 1 and the others wait. */
function threeOnX(lockDelayMs: number = 0, names: readonly string[] = ["x"]): void {
  for (let n = 0; n < 3; n += 1) commit({ kind: "openSession", ttlMs });
  for (const session of [1, 2, 3]) {
    commit(acquireCommand(names, "", { lockDelayMs }), session);
  }
}

function x(): LeaseReport {
  return getLease(host.store, "x");
}

describe("a grant to a waiter", () => {
  it("is passed on after the window, unless it is claimed", async () => {
    threeOnX();
    commit({ kind: "releaseLease", lease: { name: "x", term: 1 } }, 1);
    expect(x()).toMatchObject({ session: 2, state: "granted" });
    await clock.pass(claimWindowMs - 10);
    expect(x().session).toBe(2);
    await clock.pass(20);
    expect(x()).toMatchObject({ session: 3, term: 3, state: "granted" });
    commit({ kind: "claimLease", lease: { name: "x", term: 3 } }, 3);
    await clock.pass(3 * claimWindowMs);
    expect(x()).toMatchObject({ session: 3, term: 3, state: "held" });
    expect(leaseClock.timers).toBe(0);
  });

  it("has the whole window again under a new leader", async () => {
    threeOnX();
    commit({ kind: "releaseLease", lease: { name: "x", term: 1 } }, 1);
    await clock.pass(claimWindowMs - 100);
    node.turnTo(2, true);
    leaseClock.begin(2);
    await clock.pass(claimWindowMs - 10);
    expect(x().session).toBe(2);
    await clock.pass(20);
    expect(x().session).toBe(3);
  });

  it("of several names is passed on by one timer", async () => {
    threeOnX(0, ["x", "y"]);
    commit({ kind: "releaseLease", lease: { name: "y", term: 1 } }, 1);
    expect(leaseClock.timers).toBe(1);
    await clock.pass(claimWindowMs + 10);
    expect([x().session, getLease(host.store, "y").session]).toEqual([3, 3]);
    expect(node.proposed).toHaveLength(1);
  });
});

describe("an ending", () => {
  it("is finished a time to live after the holder was last heard, not after the break", async () => {
    threeOnX();
    await clock.pass(3_000);
    heardMs = clock.bootMs() - 1_000;
    commit({ kind: "breakLease", name: "x", afterMs: 0, force: false });
    // What is heard from now on tells of the break, and extends nothing.
    heardMs = clock.bootMs() + 500;
    await clock.pass(2_990);
    expect(x()).toMatchObject({ session: 1, state: "ending" });
    await clock.pass(20);
    expect(x().session).toBe(2);
  });

  it("waits from the office of a new leader on", async () => {
    threeOnX();
    commit({ kind: "breakLease", name: "x", afterMs: 0, force: false });
    await clock.pass(3_000);
    node.turnTo(2, true);
    heardMs = clock.bootMs();
    leaseClock.begin(2);
    await clock.pass(ttlMs - 10);
    expect(x().session).toBe(1);
    await clock.pass(20);
    expect(x().session).toBe(2);
  });

  it("begins when the time that the break left is over", async () => {
    threeOnX();
    commit({ kind: "breakLease", name: "x", afterMs: 2_000, force: false });
    await clock.pass(1_990);
    expect(x()).toMatchObject({ state: "held", handover: true });
    await clock.pass(20);
    expect(x()).toMatchObject({ state: "ending", session: 1 });
    await clock.pass(2_010);
    expect(x().session).toBe(2);
  });
});

describe("a break that leaves its holder time", () => {
  it("leaves less where another break says so, and never more", async () => {
    threeOnX();
    commit({ kind: "breakLease", name: "x", afterMs: 60_000, force: false });
    await clock.pass(1_000);
    commit({ kind: "breakLease", name: "x", afterMs: 500, force: false });
    await clock.pass(400);
    commit({ kind: "breakLease", name: "x", afterMs: 60_000, force: false });
    expect(x().state).toBe("held");
    await clock.pass(110);
    expect(x().state).toBe("ending");
  });
});

describe("a lock delay", () => {
  it("is over after its time", async () => {
    threeOnX(500);
    commit({ kind: "expireSessions", office: 1, sessions: [{ session: 1, renewals: 0 }] });
    await clock.pass(490);
    expect(x()).toMatchObject({ state: "delayed", session: 0 });
    await clock.pass(20);
    expect(x().session).toBe(2);
  });
});

describe("the grace period of a store that was made of another one", () => {
  beforeEach(() => {
    leaseClock.end();
    beginGrace(host.store, 20_000);
    leaseClock.begin(1);
  });

  it("is over after its time, and whoever waits is granted then", async () => {
    threeOnX();
    await clock.pass(19_990);
    expect(x()).toMatchObject({ state: "delayed", session: 0, waiting: 3 });
    await clock.pass(20);
    expect(x()).toMatchObject({ state: "granted", session: 1, term: 1 });
    expect(node.proposed).toHaveLength(1);
    await clock.pass(900);
    expect(node.proposed).toHaveLength(1);
  });

  it("is counted in full by each leader, beside the lock delays, and is ended again where that failed", async () => {
    await clock.pass(15_000);
    node.turnTo(2, true);
    leaseClock.begin(2);
    threeOnX();
    node.onPropose = () => Promise.reject(new QuorateError("OVERLOADED", "Too much.", { retryable: true }));
    await clock.pass(19_990);
    expect(node.proposed).toHaveLength(0);
    await clock.pass(20);
    expect(node.proposed).toHaveLength(1);
    expect(x().state).toBe("delayed");
    node.onPropose = () => undefined;
    await clock.pass(210);
    expect(x().state).toBe("granted");
  });
});

describe("a crowd that waits for the end of the grace period", () => {
  const crowd = 10_000;

  function granted(): number {
    return [...host.store.leases.values()].filter(({ grant }) => grant !== undefined).length;
  }

  beforeEach(() => {
    leaseClock.end();
    beginGrace(host.store, 20_000);
    host.store.version = 3;
    leaseClock.begin(1);
    commit({ kind: "openSession", ttlMs: Number.POSITIVE_INFINITY });
    for (let n = 0; n < crowd; n += 1) {
      if (n % 1_000 === 0) commit({ kind: "openSession", ttlMs: Number.POSITIVE_INFINITY });
      const names = [`name ${n}`, ...(n % 2 === 0 ? [`other ${n}`] : [])];
      const session = host.store.sessions.maxKey();
      const origin: Origin = {
        kind: "session",
        session: session as number,
        sequence: (n % 1_000) + 1,
        ackedBelow: 1,
      };
      node.commit(encodeProposal({ origin, command: acquireCommand(names, "") }));
    }
  });

  it("is granted in portions, each when the one before is applied", async () => {
    let [mostAtOnce, underWay] = [0, 0];
    let before = 0;
    node.onPropose = async () => {
      underWay += 1;
      mostAtOnce = Math.max(mostAtOnce, granted() - before);
      before = granted();
      expect(underWay).toBe(1);
      await new Promise<void>((resolve) => clock.after(5, resolve));
      underWay -= 1;
    };
    await clock.pass(20_010 + claimWindowMs / 2);
    expect(granted()).toBe(1.5 * crowd);
    expect(mostAtOnce).toBeLessThanOrEqual(2 * 1_024);
    node.onPropose = () => undefined;
    leaseClock.end();
  });

  it("is granted to its end by the next leader, where the first one went in the midst of it", async () => {
    node.onPropose = () => new Promise((resolve) => clock.after(5, resolve));
    while (granted() === 0) await clock.pass(20);
    leaseClock.end();
    node.turnTo(2, true);
    expect(granted()).toBeLessThan(crowd);
    leaseClock.begin(2);
    await clock.pass(claimWindowMs / 2);
    expect(granted()).toBe(1.5 * crowd);
    leaseClock.end();
  });
});

describe("a proposal that failed", () => {
  it("is made again, and nothing is proposed without the office", async () => {
    threeOnX(500);
    commit({ kind: "expireSessions", office: 1, sessions: [{ session: 1, renewals: 0 }] });
    let failures = 2;
    node.onPropose = () => {
      failures -= 1;
      if (failures < 0) return undefined;
      return Promise.reject(new QuorateError("OVERLOADED", "Too much.", { retryable: true }));
    };
    await clock.pass(1_200);
    await settle();
    expect(node.proposed).toHaveLength(3);
    expect(x().session).toBe(2);
    leaseClock.end();
    await clock.pass(10 * claimWindowMs);
    expect(node.proposed).toHaveLength(3);
  });
});
