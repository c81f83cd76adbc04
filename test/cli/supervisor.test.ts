/** The supervisor's judgement, with processes and time that the test makes: what it starts, stops, and says. */
import {
  type NodeMessage,
  type NodeProcessHandlers,
  type NodeSummary,
  nodeSpecs,
  restartDelayMs,
  Supervisor,
  type SupervisorEvent,
} from "quorate/internal";
import { describe, expect, it } from "vitest";

interface FakeProcess {
  readonly id: string;
  readonly pid: number;
  readonly handlers: NodeProcessHandlers;
  readonly signals: string[];
  /** Whether SIGTERM ends it at once. */
  isObedient: boolean;
}

class World {
  readonly events: SupervisorEvent[] = [];
  readonly processes: FakeProcess[] = [];
  readonly supervisor: Supervisor;
  exitCode: number | undefined;
  #nowMs = 0;
  #timers: { atMs: number; fn: () => void }[] = [];

  constructor(count: 1 | 3 | 5 = 3) {
    this.supervisor = new Supervisor({
      nodes: nodeSpecs(count, 7101, "/data", "warn"),
      dataDir: "/data",
      startNode: (args, handlers) => this.#spawn(args[2] ?? "", handlers),
      clock: { nowMs: () => this.#nowMs, after: (delayMs, fn) => this.#after(delayMs, fn) },
      report: (event) => this.events.push(event),
    });
    void this.supervisor.finished.then((exitCode) => {
      this.exitCode = exitCode;
    });
    this.supervisor.start();
  }

  #spawn(
    id: string,
    handlers: NodeProcessHandlers,
  ): { pid: number; kill(signal: "SIGTERM" | "SIGKILL"): void } {
    const fake: FakeProcess = {
      id,
      pid: 100 + this.processes.length,
      handlers,
      signals: [],
      isObedient: true,
    };
    this.processes.push(fake);
    return {
      pid: fake.pid,
      kill: (signal) => {
        fake.signals.push(signal);
        if (signal === "SIGKILL") handlers.exited(null, "SIGKILL");
        else if (fake.isObedient) handlers.exited(0, null);
      },
    };
  }

  #after(delayMs: number, fn: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, fn };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  async pass(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      await settle();
      const next = this.#timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#nowMs = next.atMs;
      next.fn();
    }
    this.#nowMs = untilMs;
  }

  /** The newest process of a node. */
  node(id: string): FakeProcess {
    const found = this.processes.findLast((fake) => fake.id === id);
    if (found === undefined) throw new Error(`no process of ${id}`);
    return found;
  }

  say(id: string, message: NodeMessage): void {
    this.node(id).handlers.message(message);
  }

  serve(id: string, facts: Partial<NodeSummary> = {}): void {
    this.say(id, { kind: "status", summary: { ...follower, ...facts } });
    this.say(id, { kind: "ready" });
  }

  of<Kind extends SupervisorEvent["kind"]>(kind: Kind): Extract<SupervisorEvent, { kind: Kind }>[] {
    return this.events.filter(
      (event): event is Extract<SupervisorEvent, { kind: Kind }> => event.kind === kind,
    );
  }

  startsOf(id: string): number {
    return this.processes.filter((fake) => fake.id === id).length;
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

const follower: NodeSummary = {
  clusterId: "c1",
  role: "follower",
  term: 3,
  leader: "b",
  commitIndex: 7,
  appliedIndex: 7,
  complaints: [],
};

describe("a cluster that starts", () => {
  it("is ready once every node has served a read and a leader is known", async () => {
    const world = new World();
    await settle();
    expect(world.of("starting")[0]?.nodes.map(({ id, pid }) => [id, pid])).toEqual([
      ["a", 100],
      ["b", 101],
      ["c", 102],
    ]);
    world.serve("a");
    world.serve("b", { role: "leader" });
    expect(world.of("ready")).toEqual([]);
    world.serve("c");
    expect(world.of("ready")).toEqual([
      {
        kind: "ready",
        endpoints: ["ws://127.0.0.1:7101", "ws://127.0.0.1:7102", "ws://127.0.0.1:7103"],
        nodes: [
          { id: "a", pid: 100, endpoint: "ws://127.0.0.1:7101" },
          { id: "b", pid: 101, endpoint: "ws://127.0.0.1:7102" },
          { id: "c", pid: 102, endpoint: "ws://127.0.0.1:7103" },
        ],
        dataDir: "/data",
        clusterId: "c1",
        leader: "b",
        term: 3,
      },
    ]);
  });

  it("is ready with a majority when the last node takes long, but never with less", async () => {
    const world = new World();
    world.serve("a");
    await world.pass(60_000);
    expect(world.of("ready")).toEqual([]);
    world.serve("b", { role: "leader" });
    await world.pass(1_900);
    expect(world.of("ready")).toEqual([]);
    await world.pass(200);
    expect(world.of("ready")).toHaveLength(1);
  });

  it("does not wait for a node that is given up", async () => {
    const world = new World();
    world.serve("a");
    world.serve("b", { role: "leader" });
    world.node("c").handlers.exited(70, null);
    expect(world.of("ready")).toHaveLength(1);
  });

  it("tells a new leader once, and what keeps a node out once", async () => {
    const world = new World();
    for (const id of ["a", "b", "c"]) world.serve(id);
    const mute: NodeSummary = { ...follower, role: "mute", complaints: ["Entries 5 to 7 are gone."] };
    world.say("c", { kind: "status", summary: mute });
    world.say("c", { kind: "status", summary: { ...mute, commitIndex: 8 } });
    expect(world.of("complaint")).toEqual([
      { kind: "complaint", id: "c", message: "Entries 5 to 7 are gone." },
    ]);
    for (const id of ["a", "c"])
      world.say(id, { kind: "status", summary: { ...follower, term: 4, leader: "a" } });
    world.say("b", { kind: "status", summary: follower });
    expect(world.of("leader")).toEqual([{ kind: "leader", id: "a", term: 4 }]);
  });

  it("gathers the nodes' reports into one picture with each node's lag", async () => {
    const world = new World();
    world.serve("a", { commitIndex: 10, appliedIndex: 10 });
    world.serve("b", { role: "leader", commitIndex: 12, appliedIndex: 12 });
    await world.pass(1_000);
    const [picture, ...more] = world.of("status");
    expect(more).toEqual([]);
    expect(picture?.nodes.map(({ role, lag }) => [role, lag])).toEqual([
      ["follower", 2],
      ["leader", 0],
      ["starting", null],
    ]);
  });
});

describe("a node that ends by itself", () => {
  it("is started again at once, then later each time, and at once again after it ran for long", async () => {
    const world = new World();
    const crash = (): void => world.node("b").handlers.exited(null, "SIGKILL");
    crash();
    expect(world.of("exit")).toMatchObject([{ id: "b", pid: 101, code: null, signal: "SIGKILL" }]);
    await world.pass(99);
    expect(world.startsOf("b")).toBe(1);
    await world.pass(1);
    expect(world.of("restart")).toEqual([{ kind: "restart", id: "b", pid: 103, attempt: 1 }]);
    crash();
    await world.pass(199);
    expect(world.startsOf("b")).toBe(2);
    await world.pass(1);
    expect(world.startsOf("b")).toBe(3);
    await world.pass(10_000);
    crash();
    await world.pass(100);
    expect(world.of("restart").at(-1)).toMatchObject({ attempt: 1 });
    expect(world.startsOf("a")).toBe(1);
  });

  it("is never kept waiting for more than five seconds", () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 1_000_000].map(restartDelayMs);
    expect(delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
  });

  it.each<[string, number, string]>([
    ["a storage fault", 70, "STORAGE_FAILED"],
    ["wrong options", 2, "INVALID_OPTIONS"],
    ["another node's directory", 1, "WRONG_DIRECTORY"],
  ])("because of %s is left, with its last words, and the others go on", async (_, exitCode, code) => {
    const world = new World();
    world.say("b", { kind: "failed", code, message: "The disk is full; make room." });
    world.node("b").handlers.exited(exitCode, null);
    await world.pass(60_000);
    expect(world.startsOf("b")).toBe(1);
    expect(world.of("failed")).toEqual([
      { kind: "failed", id: "b", message: "The disk is full; make room.", nodesLeft: 2 },
    ]);
    expect(world.exitCode).toBeUndefined();
    world.node("a").handlers.exited(1, null);
    await world.pass(100);
    expect(world.startsOf("a")).toBe(2);
  });

  it("as the last one with a storage fault ends the command with 70", async () => {
    const world = new World(1);
    world.node("a").handlers.line("the disk is gone");
    world.node("a").handlers.exited(70, null);
    await settle();
    expect(world.of("failed")[0]?.message).toBe("the disk is gone");
    expect(world.exitCode).toBe(70);
  });

  it("leaves the words of an earlier process behind", async () => {
    const world = new World(1);
    world.node("a").handlers.line("first words");
    world.node("a").handlers.exited(1, null);
    await world.pass(100);
    world.node("a").handlers.exited(1, null);
    expect(world.of("exit").map(({ message }) => message)).toEqual(["first words", null]);
  });
});

describe("a cluster that is stopped", () => {
  it("stops its nodes in turn, the leader last, and ends with 0", async () => {
    const world = new World();
    world.serve("a", { leader: "a" });
    const order: string[] = [];
    const stopped = world.supervisor.stop();
    await stopped;
    for (const event of world.of("exit")) order.push(event.id);
    expect(order).toEqual(["b", "c", "a"]);
    expect(world.events.at(-1)).toEqual({ kind: "stopped" });
    await settle();
    expect(world.exitCode).toBe(0);
    await world.pass(60_000);
    expect(world.processes).toHaveLength(3);
  });

  it("goes on to the next node when one does not stop, and kills what is left after three seconds", async () => {
    const world = new World(5);
    for (const { id } of world.processes) world.node(id).isObedient = false;
    void world.supervisor.stop();
    await world.pass(1_000);
    expect(world.processes.map(({ signals }) => signals.length)).toEqual([1, 1, 0, 0, 0]);
    await world.pass(2_100);
    expect(world.processes.every(({ signals }) => signals.at(-1) === "SIGKILL")).toBe(true);
    expect(world.exitCode).toBe(0);
  });

  it("ends at once when it is told a second time", async () => {
    const world = new World();
    for (const { id } of world.processes) world.node(id).isObedient = false;
    void world.supervisor.stop();
    await settle();
    expect(world.exitCode).toBeUndefined();
    world.supervisor.stopAtOnce();
    await settle();
    expect(world.exitCode).toBe(0);
    expect(world.processes.map(({ signals }) => signals.at(-1))).toEqual(["SIGKILL", "SIGKILL", "SIGKILL"]);
  });

  it("does not start again what waited for its next start", async () => {
    const world = new World();
    world.node("a").handlers.exited(1, null);
    await world.supervisor.stop();
    await world.pass(60_000);
    expect(world.startsOf("a")).toBe(1);
    expect(world.exitCode).toBe(0);
  });
});
