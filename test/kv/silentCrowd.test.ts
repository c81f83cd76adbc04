/** Sessions that fall silent together, at a leader that is well, overloaded, or stands still meanwhile. */
import { encodeProposal } from "@quorate/client/protocol";
import { createMachineHost, type MachineHost, SessionClock } from "@quorate/kv/internal";
import { isAlive } from "@quorate/kv/machine";
import { silentLogger } from "@quorate/raft";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ManyTimers, manyTimers } from "../client/manyTimers.ts";
import { settle } from "../transport/world.ts";
import { expiredBy } from "./expiries.ts";
import { FakeRaftNode } from "./fakeRaftNode.ts";

const ttlMs = 4_000;
const heartbeatMs = 50;
/** Sessions in one entry, and two of these at a time. */
const portion = 8;

let clock: ManyTimers;
let host: MachineHost;
let node: FakeRaftNode;
let sessionClock: SessionClock;

beforeEach(async () => {
  clock = manyTimers();
  host = createMachineHost();
  node = new FakeRaftNode(host.machine);
  sessionClock = new SessionClock(
    { node, clock, logger: silentLogger, store: host.store },
    { heartbeatMs, electionTimeoutMinMs: 150, maxExpiriesAtOnce: portion, maxExpiriesUnderWay: 2 },
  );
  host.onSessionOpened = (session) => sessionClock.opened(session);
  await settle();
});

afterEach(() => {
  sessionClock.stop();
  expect(clock.timers).toBe(0);
});

function open(): number {
  const command = { kind: "openSession", ttlMs } as const;
  const { result } = node.commit(encodeProposal({ origin: { kind: "anonymous" }, command }));
  return result.kind === "sessionOpened" ? result.session : 0;
}

function expiries(): number[] {
  return node.proposed.flatMap(expiredBy);
}

function slowExpiries(durationMs: number): void {
  node.onPropose = () =>
    expiredBy(node.proposed.at(-1)).length > 0
      ? new Promise((resolve) => clock.after(durationMs, resolve))
      : undefined;
}

async function keepAlive(session: number): Promise<string> {
  return new Promise((resolve) => {
    const judge = sessionClock.keepAlive(session, resolve);
    void node.readIndex().then(judge);
  });
}

describe("a crowd that falls silent together", () => {
  it("is ended in portions, all of it", async () => {
    for (let n = 0; n < 100; n += 1) open();
    await clock.pass(ttlMs + 2 * heartbeatMs);
    expect(host.store.sessions.size).toBe(0);
    expect(expiries()).toHaveLength(100);
    const largest = Math.max(...node.proposed.map((data) => data.length));
    expect(largest).toBeLessThan(4 + portion * 3);
    expect(sessionClock.tracked).toBe(0);
  });

  it("is ended in one sweep under overload, where each portion takes longer than an election", async () => {
    for (let n = 0; n < 80; n += 1) open();
    await clock.pass(ttlMs - 100);
    slowExpiries(200);
    const { reads } = node;
    await clock.pass(100 + heartbeatMs + 5 * (200 + heartbeatMs) + 10);
    expect(host.store.sessions.size).toBe(0);
    expect(expiries()).toHaveLength(80);
    expect(node.reads - reads).toBe(1);
  });

  it("is heard first where this process stood still in the midst of it", async () => {
    const sessions = Array.from({ length: 40 }, () => open());
    await clock.pass(ttlMs - 100);
    slowExpiries(20);
    await clock.pass(100 + heartbeatMs + 10);
    const proposed = new Set(expiries());
    expect(proposed.size).toBe(16);
    clock.stall(60_000);
    // The keep-alives that waited in the sockets are read in the next poll phase.
    const alive = sessions.filter((session) => !proposed.has(session));
    for (const session of alive) expect(await keepAlive(session)).toBe("alive");
    await clock.pass(1_000);
    expect(alive.filter((session) => !isAlive(host.store, session))).toEqual([]);
    expect(expiries()).toHaveLength(16);
  });
});
