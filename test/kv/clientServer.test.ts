/** The server of the client protocol, frame by frame, on a node whose Raft does what the test says. */
import { clientHello, requestFrames } from "@quorate/client/internal";
import { type Command, encodeProposal, type RequestBody } from "@quorate/client/protocol";
import {
  type ClientServer,
  createMachineHost,
  type MachineHost,
  type ServerLimits,
} from "@quorate/kv/internal";
import { QuorateError } from "@quorate/raft";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ManyTimers, manyTimers } from "../client/manyTimers.ts";
import { settle } from "../transport/world.ts";
import { ClientWire, connect, serverOf } from "./clientWire.ts";
import { FakeRaftNode, Gate } from "./fakeRaftNode.ts";

let clock: ManyTimers;
let host: MachineHost;
let node: FakeRaftNode;
let server: ClientServer;

beforeEach(() => serve());

afterEach(() => {
  server.close("the test is over");
  expect(clock.timers).toBe(0);
  expect(server.connections).toBe(0);
  expect(server.requestsUnderWay).toBe(0);
});

function serve(limits: Partial<ServerLimits> = {}): void {
  server?.close("another begins");
  clock = manyTimers();
  host = createMachineHost();
  node = new FakeRaftNode(host.machine);
  server = serverOf(node, host, clock, limits);
}

function connected(): ClientWire {
  return connect(server, new ClientWire());
}

function execute(command: Command): RequestBody {
  return { kind: "execute", proposal: encodeProposal({ origin: { kind: "anonymous" }, command }) };
}

function put(key: string, bytes = 1): RequestBody {
  const value = new Uint8Array(bytes);
  return execute({ kind: "put", key, value, format: "bytes", condition: { kind: "none" } });
}

const get: RequestBody = { kind: "get", key: "key", consistency: "linearizable" };

describe("a hello", () => {
  it("of an unknown version is refused with both ranges", () => {
    const answer = server.accept(clientHello({ min: 7, max: 9 }));
    expect(answer).toMatchObject({ kind: "refuse", code: "VERSION" });
    expect(answer.kind === "refuse" && answer.reason).toMatch(/7-9.*1-3/);
  });

  it("of somebody who is no client is refused", () => {
    expect(server.accept({ role: "visitor" })).toMatchObject({ kind: "refuse", code: "ROLE" });
  });

  it("is refused when there are as many connections as there may be", () => {
    serve({ maxConnections: 2 });
    const first = connected();
    connected();
    expect(server.accept(clientHello())).toMatchObject({ kind: "refuse", code: "BUSY" });
    first.hangUp();
    expect(server.accept(clientHello())).toMatchObject({ kind: "accept" });
  });
});

describe("a broken client", () => {
  it("that sends random bytes loses its connection with a sentence, and others notice nothing", async () => {
    const [broken, other] = [connected(), connected()];
    broken.raw(Uint8Array.of(0xc1, 0xff, 0x00, 0x93));
    expect(broken.closedBecause).toContain("no list of requests");
    other.ask(put("key"));
    await settle();
    expect(other.codes()).toEqual(["executed"]);
  });

  it("that uses an id twice at once loses its connection", async () => {
    node.onPropose = () => new Gate().promise;
    const wire = connected();
    const [frame] = requestFrames([{ id: 5, timeoutMs: 100, body: put("key") }]);
    wire.raw(frame as Uint8Array);
    wire.raw(frame as Uint8Array);
    expect(wire.closedBecause).toContain("request 5 is under way already");
  });

  it("that goes away takes its requests with it", async () => {
    const gate = new Gate();
    node.onPropose = () => gate.promise;
    const wire = connected();
    wire.ask(put("key"), get);
    expect(server.requestsUnderWay).toBe(2);
    wire.hangUp();
    expect(server.requestsUnderWay).toBe(0);
    gate.open();
    await settle();
    expect(wire.answers).toEqual([]);
  });
});

describe("answers", () => {
  it("of a turn leave in one frame", async () => {
    const wire = connected();
    wire.ask(...Array.from({ length: 50 }, (_, n) => put(`key/${n}`)));
    await settle();
    expect(wire.answers).toHaveLength(50);
    expect(wire.frames).toBe(1);
  });

  it("to reads of a turn cost one read index for all connections", async () => {
    const wires = [connected(), connected(), connected()];
    await settle();
    const before = node.reads;
    for (const wire of wires) wire.ask(get, get, { kind: "keepAlive", session: 1 });
    await settle();
    expect(wires.map((wire) => wire.answers.length)).toEqual([3, 3, 3]);
    expect(node.reads).toBe(before + 1);
  });

  it("to reads that come after the node's turn cost another read index, though none is confirmed yet", async () => {
    const gate = new Gate();
    node.onRead = () => gate.promise;
    const before = node.reads;
    const wire = connected();
    wire.ask(get, get);
    await Promise.resolve();
    wire.ask(get);
    expect(node.reads).toBe(before + 2);
    gate.open();
    await settle();
    expect(wire.codes()).toEqual(["got", "got", "got"]);
  });

  it("to a read that comes with a write are asked for in the turn of the write", () => {
    const [reads, proposed] = [node.reads, node.proposed.length];
    connected().ask(put("key"), get);
    expect([node.reads - reads, node.proposed.length - proposed]).toEqual([1, 1]);
  });

  it("to local reads ask nobody", async () => {
    node.commit((put("key") as Extract<RequestBody, { kind: "execute" }>).proposal);
    await settle();
    const before = node.reads;
    node.onRead = () => Promise.reject(new QuorateError("NOT_LEADER", "No.", { retryable: true }));
    const wire = connected();
    wire.ask({ kind: "get", key: "key", consistency: "local" }, get);
    await settle();
    expect(wire.codes()).toEqual(["got", "NOT_LEADER"]);
    expect(node.reads).toBe(before + 1);
  });

  it("show what was applied when the read index was confirmed, not what was when they were asked", async () => {
    const gate = new Gate();
    node.onRead = () => gate.promise;
    const wire = connected();
    wire.ask(get);
    await settle();
    node.commit((put("key") as Extract<RequestBody, { kind: "execute" }>).proposal);
    gate.open();
    await settle();
    expect(wire.answers[0]?.body).toMatchObject({ kind: "got", revision: 1, pair: { key: "key" } });
  });

  it("say that a request got none in its time, once it is over", async () => {
    const gate = new Gate();
    node.onPropose = () => gate.promise;
    const wire = connected();
    wire.askWithin(300, put("key"));
    await clock.pass(450);
    expect(wire.answers[0]?.body).toMatchObject({
      kind: "failed",
      failure: { code: "TIMED_OUT", outcome: "unknown", retryable: true },
    });
    gate.open();
    await settle();
    expect(wire.answers).toHaveLength(1);
  });

  it("of a node that knows no leader say where the candidate is that has its vote", async () => {
    node.turnTo(2, false);
    node.leaderAddress = undefined;
    node.candidateAddress = "ws://10.0.0.3:7101";
    const wire = connected();
    wire.ask(put("key"));
    await settle();
    expect(wire.answers[0]?.body).toMatchObject({
      kind: "failed",
      failure: { code: "NOT_LEADER", outcome: "none", leaderEndpoint: "ws://10.0.0.3:7101" },
    });
  });

  it("of a node that does not lead say where the leader is", async () => {
    node.turnTo(2, false);
    node.leaderAddress = "ws://10.0.0.2:7101";
    const wire = connected();
    wire.ask(put("key"), { kind: "keepAlive", session: 1 });
    await settle();
    for (const { body } of wire.answers) {
      expect(body).toMatchObject({
        kind: "failed",
        failure: {
          code: "NOT_LEADER",
          outcome: "none",
          retryable: true,
          leaderEndpoint: "ws://10.0.0.2:7101",
        },
      });
    }
    expect(wire.answers).toHaveLength(2);
  });
});

describe("commands that a client may not give", () => {
  it("are refused before they are proposed", async () => {
    const wire = connected();
    wire.ask(
      execute({ kind: "expireSession", session: 1, term: 1 }),
      execute({ kind: "openSession", ttlMs: 1_199 }),
      execute({ kind: "openSession", ttlMs: 1_200 }),
    );
    await settle();
    expect(wire.codes()).toEqual(["INVALID_ARGUMENT", "INVALID_ARGUMENT", "executed"]);
    const [, tooShort] = wire.answers;
    expect(tooShort?.body.kind === "failed" && tooShort.body.failure.message).toMatch(/1199 ms.*1200/);
    expect(node.proposed).toHaveLength(1);
  });
});

describe("limits", () => {
  it("on requests under way refuse those beyond, and only those", async () => {
    serve({ maxRequestsPerConnection: 2, maxRequests: 3 });
    const gate = new Gate();
    node.onPropose = () => gate.promise;
    const [one, two] = [connected(), connected()];
    one.ask(put("a"), put("b"), put("c"));
    two.ask(put("d"), put("e"));
    await settle();
    expect(one.codes()).toEqual(["OVERLOADED"]);
    expect(two.codes()).toEqual(["OVERLOADED"]);
    gate.open();
    await settle();
    expect(one.codes()).toEqual(["OVERLOADED", "executed", "executed"]);
    expect(two.codes()).toEqual(["OVERLOADED", "executed"]);
  });

  it("that are large are given a few at a time to a client that reads, however many it asks for at once", async () => {
    serve({ busyBytes: 1_000_000, maxBufferedBytes: 4_000_000 });
    const wire = connected();
    for (let n = 0; n < 10; n += 1) wire.ask(put(`k${n}`, 50_000));
    await settle();
    const before = wire.answers.length;
    const range = { from: "", to: "" };
    const span = { range, limit: 100, reverse: false, keysOnly: false } as const;
    const list: RequestBody = { kind: "list", ...span, consistency: "linearizable" };
    for (const consistency of ["linearizable", "local"] as const) {
      wire.ask(...Array.from({ length: 50 }, () => ({ ...list, consistency })));
      await settle();
    }
    expect(wire.closedBecause).toBeUndefined();
    const codes = wire.codes().slice(before);
    expect(codes).toHaveLength(100);
    expect(codes.filter((code) => code === "listed")).toHaveLength(4);
    expect(codes.filter((code) => code === "OVERLOADED")).toHaveLength(96);
  });

  it("hold answers back while the client does not read, and send them when it does", async () => {
    serve({ busyBytes: 1_000, maxBufferedBytes: 100_000 });
    const wire = connected();
    wire.bufferedBytes = 2_000;
    wire.ask(put("key"), get);
    await settle();
    expect(wire.answers).toEqual([]);
    wire.bufferedBytes = 0;
    await clock.pass(20);
    expect(wire.codes().sort()).toEqual(["OVERLOADED", "executed"]);
  });

  it("end the connection of a client that never reads", async () => {
    serve({ busyBytes: 1_000, maxBufferedBytes: 100_000, maxStalledMs: 500 });
    const wire = connected();
    wire.bufferedBytes = 2_000;
    wire.ask(put("key"));
    await clock.pass(600);
    expect(wire.closedBecause).toContain("has not read its answers for 500 ms");
    const other = connected();
    other.bufferedBytes = 200_000;
    other.ask(put("key"));
    await settle();
    expect(other.closedBecause).toContain("were not read by the client");
  });
});

describe("a wait for a lease", () => {
  it("ends at a node that has lost its leader, so that its client asks another", async () => {
    const wire = connected();
    const wait: RequestBody = { kind: "awaitLease", name: "x", changed: 0 };
    wire.askWithin(30_000, wait);
    await clock.pass(6_000);
    node.turnTo(2, false);
    await clock.pass(2_000);
    expect(wire.codes()).toEqual([]);
    await clock.pass(2_000);
    expect(wire.answers.map(({ body }) => body)).toMatchObject([
      { kind: "failed", failure: { code: "UNAVAILABLE", retryable: true, outcome: "none" } },
    ]);
  });

  it("goes on over an election, and counts anew after it", async () => {
    const wire = connected();
    wire.askWithin(30_000, { kind: "awaitLease", name: "x", changed: 0 });
    for (let term = 2; term < 10; term += 2) {
      node.turnTo(term, false);
      await clock.pass(1_500);
      node.turnTo(term + 1, true);
      await clock.pass(1_500);
    }
    expect(wire.codes()).toEqual([]);
    await clock.pass(20_000);
    expect(wire.codes()).toEqual(["lease"]);
  });
});

describe("close", () => {
  it("lets go of what a backup was being taken of, and of its timers", async () => {
    const wire = connected();
    wire.ask({ kind: "takeSnapshot" });
    await settle();
    expect(wire.codes()).toEqual(["snapshotTaken"]);
    expect(clock.timers).toBeGreaterThan(0);
    server.close("this node is closing");
    expect(clock.timers).toBe(0);
  });

  it("ends every connection and refuses new ones, and what is decided later is told to nobody", async () => {
    const gate = new Gate();
    node.onPropose = () => gate.promise;
    const wire = connected();
    wire.ask(put("key"));
    server.close("this node is closing");
    expect(wire.closedBecause).toBe("this node is closing");
    expect(server.accept(clientHello())).toMatchObject({ kind: "refuse", code: "CLOSING" });
    gate.open();
    await settle();
    expect(wire.answers).toEqual([]);
  });
});
