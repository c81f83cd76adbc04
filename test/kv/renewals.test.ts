/** Renewals of many sessions at once: which of them the leader's clock confirms, and which it leaves out. */
import { encodeProposal } from "@quorate/client/protocol";
import { createMachineHost, type MachineHost, SessionClock } from "@quorate/kv/internal";
import { isAlive } from "@quorate/kv/machine";
import { QuorateError, silentLogger } from "@quorate/raft";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ManyTimers, manyTimers } from "../client/manyTimers.ts";
import { settle } from "../transport/world.ts";
import { ClientWire, connect, serverOf } from "./clientWire.ts";
import { FakeRaftNode, Gate } from "./fakeRaftNode.ts";

const ttlMs = 4_000;

let clock: ManyTimers;
let host: MachineHost;
let node: FakeRaftNode;

beforeEach(() => {
  clock = manyTimers();
  host = createMachineHost();
  node = new FakeRaftNode(host.machine);
});

describe("of many sessions together", () => {
  let sessions: SessionClock;

  beforeEach(async () => {
    const options = {
      heartbeatMs: 50,
      electionTimeoutMinMs: 150,
      maxExpiriesAtOnce: 8,
      maxExpiriesUnderWay: 2,
    };
    sessions = new SessionClock({ node, clock, logger: silentLogger, store: host.store }, options);
    host.onSessionOpened = (session) => sessions.opened(session);
    await settle();
  });

  afterEach(() => {
    sessions.stop();
    expect(clock.timers).toBe(0);
  });

  /** Those that are left out. */
  async function renewed(...all: number[]): Promise<readonly number[] | undefined> {
    const judge = sessions.keepAlives(
      all,
      all.map(() => 0),
    );
    return judge(await node.readIndex());
  }

  it("those that live are heard, and each has its whole time to live again", async () => {
    const all = [open(), open(), open()];
    await clock.pass(1_000);
    expect(await renewed(...all)).toEqual([]);
    await clock.pass(ttlMs - 1);
    expect(all.filter(alive)).toEqual(all);
    await clock.pass(200);
    expect(all.filter(alive)).toEqual([]);
  });

  it("those that have ended, or have other leases than was asked with, are left out", async () => {
    const [living, other] = [open(), open()];
    const state = host.store.sessions.get(other);
    if (state !== undefined) state.version = 7;
    expect(await renewed(living, 999, other)).toEqual([999, other]);
    expect(sessions.keepAlives([other], [7])(await node.readIndex())).toEqual([]);
  });

  it("those whose silence is logged, or about to be, are left out: their renewals are logged", async () => {
    const silent = open();
    await clock.pass(1_000);
    const living = open();
    const gate = new Gate();
    node.onPropose = () => gate.promise;
    await clock.pass(1_000);
    expect(host.store.sessions.get(silent)?.silentMs).toBe(0);
    expect(await renewed(living, silent)).toEqual([silent]);
    gate.open();
    await settle();
    expect(host.store.sessions.get(silent)?.silentMs).toBeGreaterThan(0);
    expect(await renewed(living, silent)).toEqual([silent]);
  });

  it("those whose end is proposed are left out, and end", async () => {
    const silent = open();
    node.onPropose = () => Promise.reject(new QuorateError("OVERLOADED", "Too much.", { retryable: true }));
    await clock.pass(ttlMs - 10);
    const gate = new Gate();
    node.onPropose = () => gate.promise;
    await clock.pass(200);
    expect(await renewed(silent)).toEqual([silent]);
    gate.open();
    await settle();
    expect(alive(silent)).toBe(false);
  });

  it("none is ended while they wait for their quorum, and none is saved where it does not answer", async () => {
    const all = [open(), open()];
    await clock.pass(ttlMs - 10);
    const judge = sessions.keepAlives(all, [0, 0]);
    await clock.pass(500);
    expect(all.filter(alive)).toEqual(all);
    expect(judge(undefined)).toBeUndefined();
    await clock.pass(200);
    expect(all.filter(alive)).toEqual([]);
  });

  it("none is confirmed by a leader of another term, or by none", async () => {
    const session = open();
    const judge = sessions.keepAlives([session], [0]);
    node.turnTo(2, true);
    expect(judge(await node.readIndex())).toBeUndefined();
    node.turnTo(3, false);
    expect(await renewed(session)).toBeUndefined();
  });
});

describe("a request that renews a thousand sessions", () => {
  it("costs one frame, one confirmation of a quorum and one answer", async () => {
    const server = serverOf(node, host, clock, {});
    await settle();
    const wire = connect(server, new ClientWire());
    const all = Array.from({ length: 1_000 }, open);
    const before = node.reads;
    wire.ask({ kind: "renewAll", sessions: [...all, 5_000], versions: [...all, 1].map(() => 0) });
    await settle();
    expect(wire.answers.map(({ body }) => body)).toEqual([{ kind: "renewedAll", apart: [5_000] }]);
    expect([wire.frames, node.reads - before, node.proposed.length]).toEqual([1, 1, 0]);
    node.turnTo(2, false);
    wire.ask({ kind: "renewAll", sessions: all, versions: all.map(() => 0) });
    await settle();
    expect(wire.codes()).toEqual(["renewedAll", "NOT_LEADER"]);
    server.close("done");
    expect(clock.timers).toBe(0);
  });
});

function open(): number {
  const { result } = node.commit(
    encodeProposal({ origin: { kind: "anonymous" }, command: { kind: "openSession", ttlMs } }),
  );
  return result.kind === "sessionOpened" ? result.session : 0;
}

function alive(session: number): boolean {
  return isAlive(host.store, session);
}
