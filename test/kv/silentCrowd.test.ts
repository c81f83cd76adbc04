/** Sessions that fall silent together, at a leader that is well, overloaded, or stands still meanwhile. */
import type { MachineHost, SessionClock } from "@quorate/kv/internal";
import { isAlive } from "@quorate/kv/machine";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ManyTimers } from "../client/manyTimers.ts";
import { settle } from "../transport/world.ts";
import type { FakeRaftNode } from "./fakeRaftNode.ts";
import { heartbeatMs, portion, SessionScene, ttlMs } from "./sessionScene.ts";

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
});

function slowExpiries(durationMs: number): void {
  scene.onExpiry(() => new Promise((resolve) => clock.after(durationMs, resolve)));
}

async function keepAlive(session: number): Promise<string> {
  return new Promise((resolve) => {
    const judge = sessionClock.keepAlive(session, resolve);
    void node.readIndex().then(judge);
  });
}

describe("a crowd that falls silent together", () => {
  it("is ended in portions, all of it", async () => {
    for (let n = 0; n < 100; n += 1) scene.open();
    await clock.pass(ttlMs + 2 * heartbeatMs);
    expect(host.store.sessions.size).toBe(0);
    expect(scene.expiries()).toHaveLength(100);
    const largest = Math.max(...node.proposed.map((data) => data.length));
    expect(largest).toBeLessThan(4 + portion * 3);
    expect(sessionClock.tracked).toBe(0);
  });

  it("is ended in smaller portions where much goes with its sessions", async () => {
    const sessions = Array.from({ length: 6 }, () => scene.open());
    for (const session of sessions) {
      for (let n = 1; n <= 1_000; n += 1) scene.attach(session, n, `${session}/${n}`);
    }
    const most = { keys: 0 };
    let before = host.store.pairs.size;
    const { onApplied } = host;
    host.onApplied = (entry) => {
      onApplied(entry);
      most.keys = Math.max(most.keys, before - host.store.pairs.size);
      before = host.store.pairs.size;
    };
    await clock.pass(ttlMs + 2 * heartbeatMs);
    expect([host.store.sessions.size, host.store.pairs.size]).toEqual([0, 0]);
    expect(most.keys).toBe(2_000);
  });

  it("is ended in one sweep under overload, where each portion takes longer than an election", async () => {
    for (let n = 0; n < 80; n += 1) scene.open();
    await clock.pass(ttlMs - 100);
    slowExpiries(200);
    const { reads } = node;
    await clock.pass(100 + heartbeatMs + 5 * (200 + heartbeatMs) + 10);
    expect(host.store.sessions.size).toBe(0);
    expect(scene.expiries()).toHaveLength(80);
    expect(node.reads - reads).toBe(1);
  });

  it("is heard first where this process stood still in the midst of it", async () => {
    const sessions = Array.from({ length: 40 }, () => scene.open());
    await clock.pass(ttlMs - 100);
    slowExpiries(20);
    await clock.pass(100 + heartbeatMs + 10);
    const proposed = new Set(scene.expiries());
    expect(proposed.size).toBe(16);
    clock.stall(60_000);
    // The keep-alives that waited in the sockets are read in the next poll phase.
    const alive = sessions.filter((session) => !proposed.has(session));
    for (const session of alive) expect(await keepAlive(session)).toBe("alive");
    await clock.pass(1_000);
    expect(alive.filter((session) => !isAlive(host.store, session))).toEqual([]);
    expect(scene.expiries()).toHaveLength(16);
  });
});
