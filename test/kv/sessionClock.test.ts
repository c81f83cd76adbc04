/** The clock that ends silent sessions, in virtual time, on a leader that does what the test says. */
import type { MachineHost, SessionClock, Verdict } from "@quorate/kv/internal";
import { isAlive } from "@quorate/kv/machine";
import { asTerm, QuorateError, type ReadPoint } from "@quorate/raft";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ManyTimers } from "../client/manyTimers.ts";
import { settle } from "../transport/world.ts";
import { type FakeRaftNode, Gate } from "./fakeRaftNode.ts";
import { heartbeatMs, SessionScene, ttlMs } from "./sessionScene.ts";

let scene: SessionScene;
let clock: ManyTimers;
let host: MachineHost;
let node: FakeRaftNode;
let sessionClock: SessionClock;

beforeEach(async () => {
  scene = new SessionScene();
  ({ clock, host, node } = scene);
  sessionClock = scene.start();
  await settle();
});

afterEach(() => {
  sessionClock.stop();
  expect(clock.timers).toBe(0);
  expect(node.listeners).toBe(0);
});

/** It has arrived; the result judges it, now or later. */
function arrival(session: number): (point: ReadPoint | undefined) => Promise<Verdict> {
  let answer: (verdict: Verdict) => void = () => {};
  const judge = sessionClock.keepAlive(session, (verdict) => answer(verdict));
  return (point) =>
    new Promise((resolve) => {
      answer = resolve;
      judge(point);
    });
}

async function keepAlive(session: number): Promise<Verdict> {
  const judge = arrival(session);
  return judge(await node.readIndex());
}

function silence(session: number): number {
  return host.store.sessions.get(session)?.silentMs ?? 0;
}

describe("a silent session", () => {
  it("ends after its time to live, counted from its opening, and not before", async () => {
    const session = scene.open();
    await clock.pass(ttlMs - 1);
    expect(isAlive(host.store, session)).toBe(true);
    await clock.pass(2 * heartbeatMs);
    expect(isAlive(host.store, session)).toBe(false);
    expect(scene.expiries()).toEqual([session]);
  });

  it("is counted from the arrival of its last confirmed keep-alive", async () => {
    const session = scene.open();
    await clock.pass(3_000);
    expect(await keepAlive(session)).toBe("alive");
    await clock.pass(ttlMs - 1);
    expect(isAlive(host.store, session)).toBe(true);
    await clock.pass(2 * heartbeatMs);
    expect(isAlive(host.store, session)).toBe(false);
    expect(await keepAlive(session)).toBe("ended");
  });

  it("is let live while a keep-alive of it has arrived and waits for its quorum", async () => {
    const session = scene.open();
    await clock.pass(ttlMs - 10);
    const judge = arrival(session);
    await clock.pass(500);
    expect(isAlive(host.store, session)).toBe(true);
    expect(await judge(await node.readIndex())).toBe("alive");
    await clock.pass(ttlMs - 600);
    expect(isAlive(host.store, session)).toBe(true);
    await clock.pass(500);
    expect(isAlive(host.store, session)).toBe(false);
  });

  it("is not saved by a keep-alive whose quorum did not answer", async () => {
    const session = scene.open();
    await clock.pass(ttlMs - 10);
    expect(await arrival(session)(undefined)).toBe("notNow");
    await clock.pass(200);
    expect(isAlive(host.store, session)).toBe(false);
  });
});

describe("from the turn in which an expiry is proposed", () => {
  it("no keep-alive of that session is confirmed, others are", async () => {
    const [silent, other] = [scene.open(), scene.open()];
    await clock.pass(3_000);
    await keepAlive(other);
    const gate = new Gate();
    scene.onExpiry(() => gate.promise);
    await clock.pass(1_200);
    expect(scene.expiries()).toEqual([silent]);
    expect(isAlive(host.store, silent)).toBe(true);
    expect(await keepAlive(silent)).toBe("notNow");
    expect(await keepAlive(other)).toBe("alive");
    gate.open();
    await settle();
    expect(await keepAlive(silent)).toBe("ended");
  });

  it("a keep-alive that arrived before and is confirmed after is not confirmed either", async () => {
    const session = scene.open();
    const gate = new Gate();
    scene.onExpiry(() => gate.promise);
    await clock.pass(ttlMs + 100);
    const judge = arrival(session);
    expect(await judge(await node.readIndex())).toBe("notNow");
    gate.open();
  });
});

describe("a failed expiry", () => {
  it("is proposed again", async () => {
    const session = scene.open();
    let failures = 2;
    scene.onExpiry(() => {
      if (failures === 0) return undefined;
      failures -= 1;
      return Promise.reject(new QuorateError("OVERLOADED", "Too much.", { retryable: true }));
    });
    await clock.pass(ttlMs + 1_000);
    expect(scene.expiries()).toEqual([session, session, session]);
    expect(isAlive(host.store, session)).toBe(false);
  });
});

describe("an expiry that comes after a renewal in the log", () => {
  it("ends nobody, and the session has a whole time to live again", async () => {
    const session = scene.open();
    scene.onExpiry(() => {
      if (scene.expiries().length === 1) scene.commit({ kind: "renewSessions", sessions: [session] });
      return undefined;
    });
    await clock.pass(ttlMs + 500);
    expect(scene.expiries()).toEqual([session]);
    expect(isAlive(host.store, session)).toBe(true);
    await clock.pass(ttlMs - 1_000);
    expect(isAlive(host.store, session)).toBe(true);
    await clock.pass(1_000);
    expect(isAlive(host.store, session)).toBe(false);
  });
});

describe("a change of leader", () => {
  it("gives every session a whole time to live from when the new leader took office", async () => {
    const session = scene.open();
    await clock.pass(1_000);
    node.turnTo(2, false);
    await clock.pass(300);
    node.turnTo(3, true);
    await clock.pass(ttlMs - 10);
    expect(isAlive(host.store, session)).toBe(true);
    await clock.pass(200);
    expect(isAlive(host.store, session)).toBe(false);
  });

  it("leaves nothing behind on the old one, which ends and confirms nothing", async () => {
    const session = scene.open();
    node.turnTo(2, false);
    expect(sessionClock.isInOffice).toBe(false);
    expect(sessionClock.tracked).toBe(0);
    expect(clock.timers).toBe(0);
    expect(await keepAlive(session)).toBe("notLeader");
    await clock.pass(3 * ttlMs);
    expect(scene.expiries()).toEqual([]);
  });

  it("between a keep-alive's arrival and its quorum lets it be confirmed by neither", async () => {
    const session = scene.open();
    const judge = arrival(session);
    const point = await node.readIndex();
    node.turnTo(2, true);
    await settle();
    expect(await judge(point)).toBe("notLeader");
    expect(await judge(await node.readIndex())).toBe("notLeader");
  });

  it("is noticed by the term of the quorum that answered, too", async () => {
    const judge = arrival(scene.open());
    const point = await node.readIndex();
    expect(await judge({ ...point, term: asTerm(point.term + 1) })).toBe("notLeader");
    const follower = arrival(scene.open());
    expect(await follower({ ...point, asLeader: false })).toBe("notLeader");
  });

  it("while an expiry is under way lets it end nobody in the next term", async () => {
    const session = scene.open();
    const gate = new Gate();
    scene.onExpiry(() => gate.promise);
    await clock.pass(ttlMs + 100);
    expect(scene.expiries()).toEqual([session]);
    node.turnTo(2, true);
    node.commit(node.proposed.at(-1) as Uint8Array);
    expect(isAlive(host.store, session)).toBe(true);
    gate.fail(new QuorateError("PROPOSAL_LOST", "Lost.", { outcome: "unknown" }));
    await settle();
    expect(await keepAlive(session)).toBe("alive");
  });
});

describe("a leader that stood still", () => {
  it("confirms its office and hears what has arrived before it ends anybody", async () => {
    const session = scene.open();
    await clock.pass(100);
    const readsBefore = node.reads;
    clock.stall(60_000);
    // The keep-alives that waited in the sockets are read in the next poll phase.
    const judge = arrival(session);
    expect(await judge(await node.readIndex())).toBe("alive");
    await clock.pass(1_000);
    expect(isAlive(host.store, session)).toBe(true);
    expect(node.reads).toBeGreaterThan(readsBefore);
  });

  it("ends nobody when another leads by now", async () => {
    const session = scene.open();
    await clock.pass(100);
    node.onRead = () => Promise.reject(new QuorateError("NOT_LEADER", "Deposed.", { retryable: true }));
    clock.stall(60_000);
    await clock.pass(500);
    expect(scene.expiries()).toEqual([]);
    node.turnTo(2, false);
    await clock.pass(1_000);
    expect(isAlive(host.store, session)).toBe(true);
  });

  it("begins anew when it stands still between the confirmation and the sweep", async () => {
    const session = scene.open();
    await clock.pass(ttlMs + 10);
    clock.stall(1_000);
    await settle();
    expect(scene.expiries()).toEqual([]);
    await clock.pass(100);
    expect(scene.expiries()).toEqual([session]);
  });
});

describe("silence", () => {
  it("is logged when the leader has seen 0.4 of the time to live, and again", async () => {
    const session = scene.open();
    await clock.pass(1_500);
    expect(silence(session)).toBe(0);
    await clock.pass(200);
    expect(silence(session)).toBe(1_600);
    await clock.pass(1_800);
    expect(silence(session)).toBe(3_200);
    await clock.pass(700);
    expect(isAlive(host.store, session)).toBe(false);
  });

  it("is never logged of a session that is renewed in time, whose renewals stay out of the log", async () => {
    const session = scene.open();
    for (let n = 0; n < 20; n += 1) {
      await clock.pass(ttlMs / 4);
      expect(await keepAlive(session)).toBe("alive");
    }
    expect(node.proposed).toEqual([]);
  });

  it("that is logged makes the next renewal a logged one, which clears it and is answered when applied", async () => {
    const session = scene.open();
    await clock.pass(2_000);
    const gate = new Gate();
    node.onPropose = () => gate.promise;
    const answered: Verdict[] = [];
    void keepAlive(session).then((verdict) => answered.push(verdict));
    await settle();
    expect(answered).toEqual([]);
    gate.open();
    await settle();
    expect(answered).toEqual(["alive"]);
    expect(silence(session)).toBe(0);
    node.onPropose = () => undefined;
    await clock.pass(1_000);
    const proposed = node.proposed.length;
    expect(await keepAlive(session)).toBe("alive");
    expect(node.proposed).toHaveLength(proposed);
  });

  it("makes a renewal a logged one from when it is proposed", async () => {
    const session = scene.open();
    const gate = new Gate();
    node.onPropose = () => gate.promise;
    await clock.pass(2_000);
    expect(silence(session)).toBe(0);
    const answered: Verdict[] = [];
    void keepAlive(session).then((verdict) => answered.push(verdict));
    await settle();
    expect(answered).toEqual([]);
    gate.fail(new QuorateError("OVERLOADED", "Too much.", { retryable: true }));
    await settle();
    expect(answered).toEqual(["notNow"]);
  });

  it("of one leader counts for the next, and of that one for the one after", async () => {
    const session = scene.open();
    await clock.pass(2_000);
    node.turnTo(2, true);
    await settle();
    await clock.pass(1_900);
    expect(isAlive(host.store, session)).toBe(true);
    expect(silence(session)).toBe(3_200);
    node.turnTo(3, true);
    await clock.pass(700);
    expect(isAlive(host.store, session)).toBe(true);
    await clock.pass(200);
    expect(isAlive(host.store, session)).toBe(false);
  });

  it("is over with a logged renewal, which a later leader sees: it waits a whole time to live again", async () => {
    const session = scene.open();
    await clock.pass(2_000);
    expect(await keepAlive(session)).toBe("alive");
    node.turnTo(2, true);
    await clock.pass(ttlMs - 10);
    expect(isAlive(host.store, session)).toBe(true);
  });
});

describe("sessions that come and go", () => {
  it("leave nothing in the clock", async () => {
    for (let n = 0; n < 5_000; n += 1) {
      const session = scene.open();
      scene.commit({ kind: "closeSession", session });
      expect(sessionClock.tracked).toBeLessThan(100);
    }
    await clock.pass(ttlMs + 100);
    expect(sessionClock.tracked).toBe(0);
  });
});
