/** Watches on a node whose Raft does what the test says: windows, slow readers, installed snapshots, many at once. */
import { changeBytes, encodeProposal, type KeyRange, watchWindowBytes } from "@quorate/client/protocol";
import {
  type ClientServer,
  createMachineHost,
  type MachineHost,
  type ServerLimits,
} from "@quorate/kv/internal";
import { asIndex, asTerm } from "@quorate/raft";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ManyTimers, manyTimers } from "../client/manyTimers.ts";
import { settle } from "../transport/world.ts";
import { connect, serverOf } from "./clientWire.ts";
import { FakeRaftNode } from "./fakeRaftNode.ts";
import { WatchWire } from "./watchWire.ts";

let clock: ManyTimers;
let host: MachineHost;
let node: FakeRaftNode;
let server: ClientServer;
let index = 0;

beforeEach(() => serve());

afterEach(() => {
  server.close("the test is over");
  expect(clock.timers).toBe(0);
  expect(server.watches).toBe(0);
});

function serve(limits: Partial<ServerLimits> = {}): void {
  server?.close("another begins");
  index = 0;
  clock = manyTimers();
  host = createMachineHost();
  node = new FakeRaftNode(host.machine);
  server = serverOf(node, host, clock, limits);
}

function connected(): WatchWire {
  return connect(server, new WatchWire());
}

type AnyCommand = Parameters<typeof encodeProposal>[0]["command"];

function applyTo(machine: MachineHost["machine"], command: AnyCommand): void {
  index += 1;
  const data = encodeProposal({ origin: { kind: "anonymous" }, command });
  machine.apply({ index: asIndex(index), term: asTerm(1), kind: "command", data });
}

function put(key: string, bytes = 1): AnyCommand {
  return { kind: "put", key, value: new Uint8Array(bytes), format: "bytes", condition: { kind: "none" } };
}

function puts(count: number, key = "k", bytes = 1): void {
  for (let n = 0; n < count; n += 1) applyTo(host.machine, put(key, bytes));
}

/** With the sequence `n` of that session. */
function attach(session: number, n: number, key: string, bytes: number): void {
  index += 1;
  const origin = { kind: "session", session, sequence: n, ackedBelow: n } as const;
  const command = { ...put(key, bytes), attached: true } as AnyCommand;
  const data = encodeProposal({ origin, command });
  host.machine.apply({ index: asIndex(index), term: asTerm(1), kind: "command", data });
}

/** Of the event loop. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

function upTo(last: number, first = 1): number[] {
  return Array.from({ length: last - first + 1 }, (_, n) => first + n);
}

describe("a watch on a node", () => {
  it("is told the past and the present without a seam, whatever happens between", async () => {
    puts(3_000);
    const wire = connected();
    const id = wire.watch({ from: 5 });
    await settle();
    puts(100);
    await settle();
    puts(1);
    await settle();
    expect(wire.told(id)).toEqual(upTo(3_101, 5));
  });

  it("that begins at no revision begins after what the quorum confirms, and one ahead waits", async () => {
    puts(3);
    const wire = connected();
    const [now, ahead] = [wire.watch({ from: 0 }), wire.watch({ from: 6 })];
    await settle();
    expect(wire.of(now)).toEqual([{ kind: "watching", revision: 3 }]);
    puts(4);
    await settle();
    expect(wire.told(now)).toEqual([4, 5, 6, 7]);
    expect(wire.told(ahead)).toEqual([6, 7]);
  });

  it("gets no more than its window, and goes on as its client consumes", async () => {
    const wire = connected();
    const id = wire.watch();
    puts(10, "k", 100_000);
    await settle();
    expect(wire.told(id)).toEqual([1, 2, 3]);
    const consumed = { kind: "watchCredit", watch: id, consumedBytes: 2 * 100_065 } as const;
    wire.ask(consumed);
    await settle();
    expect(wire.told(id)).toEqual([1, 2, 3, 4, 5]);
    puts(2, "other", 10);
    wire.ask({ ...consumed, consumedBytes: 5 * 100_065 });
    await settle();
    expect(wire.told(id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    wire.ask({ ...consumed, consumedBytes: 9 * 100_065 });
    await settle();
    expect(wire.closedBecause).toContain("which were not sent so");
  });

  it("whose client reads too slowly ends where it can still go on, or says what was cut away", async () => {
    applyTo(host.machine, { kind: "limitStore", limits: { historyRevisions: 100 } });
    const wire = connected();
    const [slow, stuck] = [wire.watch(), wire.watch()];
    puts(3, "k", 100_000);
    await settle();
    puts(20);
    await clock.pass(1_000);
    expect(wire.told(slow)).toEqual([1, 2, 3]);
    puts(62);
    await clock.pass(1_000);
    expect(wire.told(slow)).toEqual([1, 2, 3]);
    puts(16);
    await clock.pass(1_000);
    expect(wire.of(slow).at(-1)).toEqual({ kind: "overflowed", revision: 4 });
    expect(wire.told(stuck).at(-1)).toBe("overflowed");
    const again = wire.watch({ from: 4 });
    await settle();
    expect(wire.told(again)).toEqual(upTo(101, 4));
    const late = wire.watch({ from: 1 });
    await settle();
    expect(wire.of(late)).toEqual([{ kind: "compacted", floor: 1 }]);
  });

  it("that waits for room when its history is cut says so, and never leaves anything out in silence", async () => {
    applyTo(host.machine, { kind: "limitStore", limits: { historyRevisions: 100 } });
    const wire = connected();
    const id = wire.watch();
    puts(3, "k", 100_000);
    await settle();
    puts(500);
    wire.ask({ kind: "watchCredit", watch: id, consumedBytes: 300_195 });
    await settle();
    expect(wire.told(id)).toEqual([1, 2, 3, "compacted"]);
    expect(wire.of(id).at(-1)).toEqual({ kind: "compacted", floor: 403 });
  });

  it.each([
    ["just after what is cut away is told of it", 103, [101, 103]],
    ["that is the last to be cut away is told so", 102, [101, "compacted"]],
  ])("that is slow when a delete comes %s (etcd #18089)", async (...row) => {
    const [, deletedAt, expected] = row;
    puts(100, "other");
    const wire = connected();
    const id = wire.watch({ range: { from: "k", to: "k\0" }, from: 101 });
    applyTo(host.machine, put("k", 300_000));
    await settle();
    while (host.store.revision < deletedAt - 1) puts(1, "other");
    applyTo(host.machine, { kind: "delete", key: "k", condition: { kind: "none" } });
    puts(10, "other");
    const historyRevisions = host.store.revision - 102;
    applyTo(host.machine, { kind: "limitStore", limits: { historyRevisions } });
    expect(host.store.history.floor).toBe(102);
    wire.ask({ kind: "watchCredit", watch: id, consumedBytes: 300_065 });
    await settle();
    expect(wire.told(id)).toEqual(expected);
  });

  it("goes on over a snapshot that is installed, or says that what it wanted is not in it", async () => {
    const ahead = createMachineHost();
    for (let n = 0; n < 40; n += 1) {
      applyTo(ahead.machine, put(`k${n % 3}`));
      if (n < 10) applyTo(host.machine, put(`k${n % 3}`));
    }
    const wire = connected();
    const id = wire.watch({ from: 3 });
    await settle();
    install(ahead);
    await settle();
    expect(wire.told(id)).toEqual(upTo(40, 3));
    for (let n = 0; n < 20; n += 1) applyTo(ahead.machine, put("k0"));
    applyTo(ahead.machine, { kind: "limitStore", limits: { historyRevisions: 5 } });
    install(ahead);
    await settle();
    expect(wire.of(id).at(-1)).toEqual({ kind: "compacted", floor: 55 });
  });

  it("is told whole revisions, also one that is sent in parts", async () => {
    const wire = connected();
    for (let n = 0; n < 30; n += 1) applyTo(host.machine, put(`k${n}`, 100_000));
    const id = wire.watch({ from: 31, previous: true });
    applyTo(host.machine, {
      kind: "transaction",
      compares: [],
      onSuccess: [{ kind: "deleteRange", range: { from: "", to: "" } }],
      onFailure: [],
    });
    await settle();
    const parts = wire.of(id).filter((body) => body.kind === "changed");
    expect(parts.map(({ more }) => more)).toEqual([true, true, false]);
    const changes = parts.flatMap((part) => part.changes);
    expect(changes).toHaveLength(30);
    expect(
      changes.every(({ pair, previous }) => pair === undefined && previous?.value.length === 100_000),
    ).toBe(true);
    expect(changes.reduce((sum, change) => sum + changeBytes(change), 0)).toBeGreaterThan(watchWindowBytes);
  });

  it("ends at a node that has lost its leader, so that its client asks another", async () => {
    const wire = connected();
    const id = wire.watch();
    await clock.pass(5_000);
    expect(wire.told(id)).toEqual([]);
    node.turnTo(2, false);
    await clock.pass(2_000);
    expect(wire.told(id)).toEqual([]);
    await clock.pass(2_000);
    expect(wire.of(id).at(-1)).toMatchObject({
      kind: "failed",
      failure: { code: "UNAVAILABLE", retryable: true },
    });
  });

  it("hears of progress once a second where there was some, and not while it is behind", async () => {
    const wire = connected();
    const id = wire.watch({ range: { from: "quiet", to: "quiet\0" } });
    puts(5);
    await clock.pass(1_000);
    expect(wire.of(0)).toEqual([{ kind: "watchProgress", revision: 5 }]);
    await clock.pass(5_000);
    expect(wire.of(0)).toHaveLength(1);
    const behind = wire.watch();
    puts(4, "k", 100_000);
    await clock.pass(3_000);
    expect(wire.of(0)).toHaveLength(1);
    wire.ask({ kind: "unwatch", watch: behind });
    await clock.pass(1_000);
    expect(wire.of(0).at(-1)).toEqual({ kind: "watchProgress", revision: 9 });
    expect(wire.told(id)).toEqual([]);
  });

  it("waits in the history while its connection does not take what was sent", async () => {
    const wire = connected();
    const id = wire.watch();
    wire.bufferedBytes = 5 * 1024 * 1024;
    puts(10);
    await settle();
    expect(wire.told(id)).toEqual([]);
    wire.bufferedBytes = 0;
    await clock.pass(50);
    expect(wire.told(id)).toEqual(upTo(10));
  });

  it("that has room in its window again goes on when its connection has room, too", async () => {
    const wire = connected();
    const id = wire.watch();
    puts(5, "k", 100_000);
    await settle();
    expect(wire.told(id)).toEqual([1, 2, 3]);
    wire.bufferedBytes = 5 * 1024 * 1024;
    wire.ask({ kind: "watchCredit", watch: id, consumedBytes: 3 * 100_065 });
    await settle();
    wire.bufferedBytes = 0;
    await clock.pass(50);
    expect(wire.told(id)).toEqual([1, 2, 3, 4, 5]);
  });

  it("is told a revision in parts that its connection has room for, however large it is", async () => {
    serve({ watchBusyBytes: 2_000_000, maxBufferedBytes: 5_000_000 });
    const [session, others] = [1, 200];
    applyTo(host.machine, { kind: "openSession", ttlMs: 10_000 });
    for (let n = 0; n < others; n += 1) attach(session, n + 1, `k${n}`, 100_000);
    const wire = connected();
    const id = wire.watch({ from: others + 1, previous: true });
    applyTo(host.machine, { kind: "expireSessions", office: 1, sessions: [{ session, renewals: 0 }] });
    puts(1);
    for (let turns = 0; turns < 20; turns += 1) {
      wire.bufferedBytes = 2_500_000;
      await clock.pass(50);
      wire.bufferedBytes = 0;
      await clock.pass(50);
    }
    expect(wire.closedBecause).toBeUndefined();
    const parts = wire.of(id).filter((body) => body.kind === "changed");
    const changes = parts.flatMap((part) => part.changes);
    expect(parts.map(({ more }) => more)).toEqual([...parts.slice(1).map(() => true), false]);
    expect(new Set(changes.map(({ key }) => key)).size).toBe(others);
    expect(changes).toHaveLength(others);
    const consumedBytes = changes.reduce((sum, change) => sum + changeBytes(change), 0);
    wire.ask({ kind: "watchCredit", watch: id, consumedBytes });
    await settle();
    expect(wire.told(id).slice(parts.length)).toEqual([202]);
  });

  it("of much that is past costs what it is told: a walk whose watches have no room looks no further", async () => {
    puts(20_000, "k", 100);
    const wire = connected();
    const id = wire.watch();
    let windows = 1;
    for (await settle(); wire.told(id).length < 20_000; windows += 1) {
      wire.ask({ kind: "watchCredit", watch: id, consumedBytes: wire.told(id).length * 165 });
      await turns(4);
    }
    expect(windows).toBe(Math.ceil((20_000 * 165) / watchWindowBytes));
  });

  it("that reads what is long past is not too slow as long as it reads", async () => {
    applyTo(host.machine, { kind: "limitStore", limits: { historyRevisions: 100 } });
    puts(200, "k", 100_000);
    const wire = connected();
    const id = wire.watch({ from: 101 });
    for (let read = 1; read <= 97; read += 1) {
      await clock.pass(400);
      wire.ask({ kind: "watchCredit", watch: id, consumedBytes: read * 100_065 });
    }
    await settle();
    expect(wire.told(id)).toEqual(upTo(200, 101));
  });

  it("is refused above the limits of its connection, and makes room when it ends", async () => {
    serve({ maxWatchesPerConnection: 2 });
    const wire = connected();
    const first = wire.watch();
    wire.watch();
    const third = wire.watch();
    await settle();
    expect(wire.of(third)).toMatchObject([{ kind: "failed", failure: { code: "OVERLOADED" } }]);
    wire.ask({ kind: "unwatch", watch: first });
    expect(wire.told(wire.watch())).toEqual([]);
    expect(server.watches).toBe(2);
    await settle();
  });
});

describe("many watches", () => {
  it("cost a write no more than those that it concerns, and coming back together one walk", async () => {
    const wires = Array.from({ length: 20 }, () => connected());
    const ids = wires.map((wire, at) =>
      Array.from({ length: 1_000 }, (_, n) => {
        const key = `lease/${at}/${n}`;
        const range = n % 2 === 0 ? { from: key, to: `${key}\0` } : { from: `${key}/`, to: `${key}0` };
        return wire.watch({ range, from: 1 });
      }),
    );
    await settle();
    expect(server.watches).toBe(20_000);
    applyTo(host.machine, put("lease/7/500"));
    applyTo(host.machine, put("lease/7/501/x"));
    applyTo(host.machine, put("elsewhere"));
    await settle();
    expect(wires[7]?.told(ids[7]?.[500] as number)).toEqual([1]);
    expect(wires[7]?.told(ids[7]?.[501] as number)).toEqual([2]);

    const cpu = process.cpuUsage();
    puts(10_000, "lease/3/2");
    const back = wires.map((wire) =>
      Array.from({ length: 1_000 }, (_, n) => wire.watch({ range: single(`x${n}`) })),
    );
    for (let turns = 0; turns < 3; turns += 1) await settle();
    const { user, system } = process.cpuUsage(cpu);
    expect(wires[0]?.of(back[0]?.[0] as number)).toHaveLength(1);
    expect(wires[3]?.told(ids[3]?.[2] as number)).toHaveLength(Math.ceil(watchWindowBytes / (64 + 9 + 1)));
    // Looking at each watch for each write, or a walk over 10,003 revisions for each watch, would take minutes.
    expect((user + system) / 1_000).toBeLessThan(10_000);
  });
});

function single(key: string): KeyRange {
  return { from: key, to: `${key}\0` };
}

function install(from: MachineHost): void {
  const restoration = host.machine.restore();
  for (const chunk of from.machine.view().chunks()) restoration.add(chunk);
  restoration.finish();
}
