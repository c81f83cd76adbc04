/**
 * `quorate lock`, `elect` and `lease` as a user runs them: exit codes, what the command is told, and the path to the
 * cluster black-holed under a running command, which has to be dead before anybody else gets its lock.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cluster, connect } from "@quorate/client";
import { type Network, silentLogger } from "@quorate/raft";
import { websocketNetwork } from "@quorate/transport";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { quorateCommand } from "./rig/nodeProcess.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { isRunning } from "./rig/running.ts";
import { until, within } from "./rig/waiting.ts";

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly out: () => string;
}

let cluster: RealCluster;
let folder: string;
/** Reaches the nodes at their own addresses, past the proxies that the commands go through. */
let contender: Cluster;
/** What a case that fails may leave behind. */
const wrappers: ChildProcess[] = [];
const commands: number[] = [];

function quorate(...words: readonly string[]): Running {
  return quorateAt(cluster.endpoints.join(","), ...words);
}

function quorateAt(endpoints: string, ...words: readonly string[]): Running {
  const env = { ...process.env, QUORATE_ENDPOINTS: endpoints };
  const child = spawn(process.execPath, [quorateCommand, ...words], { env, stdio: ["pipe", "pipe", "pipe"] });
  wrappers.push(child);
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  return { child, ended, out: () => out };
}

/** An address at which nobody is: whoever listens there closes each connection. */
class DeadEndpoint implements AsyncDisposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<DeadEndpoint> {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new DeadEndpoint(server);
  }

  get address(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Dials a node where it listens itself, whatever address it is known by. */
function pastTheProxies(): Network {
  const network = websocketNetwork({ logger: silentLogger });
  const own = new Map(cluster.nodes.map(({ id, spec }) => [spec.peers[id] as string, spec.listen]));
  return { ...network, dial: (address, ...more) => network.dial(own.get(address) ?? address, ...more) };
}

async function pidIn(file: string): Promise<number> {
  const path = join(folder, file);
  const pid = await until(
    `${file} is there`,
    () => existsSync(path) && Number(readFileSync(path, "utf8").trim()),
  );
  commands.push(pid);
  return pid;
}

async function waiters(name: string): Promise<number> {
  return (await contender.lease.get(name)).waiting;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "quorate-lock-"));
  cluster = await RealCluster.start({ size: 3, proxies: true });
  contender = connect({ endpoints: cluster.endpoints, network: pastTheProxies() });
});

afterAll(async () => {
  for (const child of wrappers) child.kill("SIGKILL");
  for (const pid of commands.filter(isRunning)) process.kill(pid, "SIGKILL");
  await contender.close();
  await cluster.dispose();
  rmSync(folder, { recursive: true, force: true });
});

describe("quorate lock", () => {
  it("runs the command with its term and deadline, ends with its code, and gives the lease back", async () => {
    const script = 'echo "$QUORATE_TERM $QUORATE_DEADLINE"; exit 7';
    const { ended, out } = quorate("lock", "codes", "--", "sh", "-c", script);
    expect(await within("the end", ended), out()).toBe(7);
    const [term = 0, deadline = 0] = out().trim().split(" ").map(Number);
    const info = await contender.lease.get("codes");
    expect(info).toMatchObject({ state: "free", term });
    expect(deadline).toBeGreaterThan(performance.timeOrigin + performance.now());
  });

  it("ends with 120 where somebody else has it, 127 where there is no command, 125 where it fails itself", async () => {
    const lease = await contender.lease.acquire("taken");
    const tried = quorate("lock", "taken", "--try", "--", "true");
    const waited = quorate("lock", "taken", "--wait", "300ms", "--", "true");
    expect(await within("the end", tried.ended), tried.out()).toBe(120);
    expect(await within("the end", waited.ended), waited.out()).toBe(120);
    expect(await waiters("taken")).toBe(0);
    await lease.release();
    const missing = quorate("lock", "taken", "--", join(folder, "missing"));
    expect(await within("the end", missing.ended), missing.out()).toBe(127);
    const wrong = quorate("lock", "taken", "--ttl", "soon", "--", "true");
    expect(await within("the end", wrong.ended), wrong.out()).toBe(125);
    expect((await contender.lease.get("taken")).state).toBe("free");
  });

  it("ends with 125 and says so where the cluster does not answer: nobody knows who has it", async () => {
    await using dead = await DeadEndpoint.open();
    for (const words of [
      ["--wait", "100ms"],
      ["--try", "--timeout", "300ms"],
    ]) {
      const { ended, out } = quorateAt(dead.address, ...words, "lock", "x", "--", "true");
      expect(await within("the end", ended), out()).toBe(125);
      expect(out()).toMatch(/No answer within/);
    }
    const waiting = quorateAt(dead.address, "lock", "x", "--timeout", "100ms", "--", "true");
    await until("it tells that it waits for nobody", () => waiting.out().includes("cluster does not answer"));
    waiting.child.kill("SIGTERM");
    expect(await within("the end", waiting.ended), waiting.out()).toBe(125);
    const inJson = quorateAt(dead.address, "lock", "x", "--try", "--timeout", "100ms", "--", "cmd", "--json");
    expect(await within("the end", inJson.ended), inJson.out()).toBe(125);
    expect(inJson.out()).toMatch(/^quorate: No answer/);
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const)(
    "takes its place in the queue back when %s comes, and ends with 120",
    async (signal) => {
      await using lease = await contender.lease.acquire("queue");
      const { child, ended, out } = quorate("lock", "queue", "--", "true");
      await until("it waits", async () => (await waiters(lease.name)) === 1);
      child.kill(signal);
      expect(await within("the end", ended), out()).toBe(120);
      expect(await waiters(lease.name)).toBe(0);
    },
  );

  it("gives the lease back though a signal comes after the command's end", async () => {
    const script = `trap 'exit 9' TERM; echo $$ > ${folder}/twice; while :; do sleep 0.05; done`;
    const { child, ended, out } = quorate("lock", "twice", "--", "sh", "-c", script);
    const pid = await pidIn("twice");
    // The way back to the cluster is held up, so that the second signal comes while the lease is given back.
    for (const { id } of cluster.nodes) cluster.proxy(id).set("client", { mode: "frozen" });
    try {
      child.kill("SIGTERM");
      await until("the command has ended", () => !isRunning(pid));
      child.kill("SIGTERM");
    } finally {
      for (const { id } of cluster.nodes) cluster.proxy(id).set("client", { mode: "open" });
    }
    expect(await within("the end", ended), out()).toBe(9);
    expect((await contender.lease.get("twice")).state).toBe("free");
  });

  it("asks the command to end when the lease is asked for, and ends with 121", async () => {
    const script = `trap 'exit 0' TERM; echo $$ > ${folder}/asked; while :; do sleep 0.05; done`;
    const { ended, out } = quorate("lock", "asked", "--", "sh", "-c", script);
    await pidIn("asked");
    const asking = quorate("lease", "release", "asked");
    expect(await within("the end", asking.ended), asking.out()).toBe(0);
    expect(await within("the end of the command", ended), out()).toBe(121);
    expect((await contender.lease.get("asked")).state).toBe("free");
  });

  it("passes signals on, and ends with the code of the signal that ended the command", async () => {
    const script = `trap 'exit 9' TERM; echo $$ > ${folder}/signalled; while :; do sleep 0.05; done`;
    const { child, ended, out } = quorate("lock", "signals", "--", "sh", "-c", script);
    await pidIn("signalled");
    child.kill("SIGTERM");
    expect(await within("the end", ended), out()).toBe(9);
    const killed = quorate("lock", "signals", "--", "sh", "-c", "kill -KILL $$");
    expect(await within("the end", killed.ended), killed.out()).toBe(137);
  });

  it("with its path black-holed, the command is dead before another client gets the lock", async () => {
    const script = `trap '' TERM; sleep 60 & echo $! > ${folder}/inner; echo $$ > ${folder}/outer; wait; sleep 60`;
    const { ended, out } = quorate("lock", "x", "--ttl", "2s", "--", "sh", "-c", script);
    const pids = [await pidIn("outer"), await pidIn("inner")];
    expect(pids.every(isRunning)).toBe(true);
    const next = contender.lease.acquire("x");
    await until("the other client waits", async () => (await waiters("x")) === 1);
    for (const { id } of cluster.nodes) cluster.proxy(id).set("client", { mode: "frozen" });
    try {
      const lease = await within("the lock is passed on", next);
      const alive = pids.filter(isRunning);
      expect(alive).toEqual([]);
      expect(await within("the end of the wrapper", ended), out()).toBe(121);
      await lease.release();
    } finally {
      for (const { id } of cluster.nodes) cluster.proxy(id).set("client", { mode: "open" });
    }
  });

  it("ends the command when an administrator breaks the lease", async () => {
    const { ended, out } = quorate(
      "lock",
      "broken",
      "--ttl",
      "3s",
      "--",
      "sh",
      "-c",
      `echo $$ > ${folder}/broken; sleep 60`,
    );
    const pid = await pidIn("broken");
    const breaking = quorate("lease", "break", "broken");
    expect(await within("the end", breaking.ended), breaking.out()).toBe(0);
    expect(await within("the end of the command", ended), out()).toBe(121);
    expect(isRunning(pid)).toBe(false);
  });
});

describe("quorate elect", () => {
  it("stands again after a loss, under a newer term, and ends with the command's own code", async () => {
    const script = `echo "$QUORATE_TERM" >> ${folder}/terms; test $(wc -l < ${folder}/terms) = 2 && exit 5; sleep 60`;
    const { ended, out } = quorate("elect", "again", "--ttl", "2s", "--", "sh", "-c", script);
    const terms = (): number[] => readFileSync(join(folder, "terms"), "utf8").trim().split("\n").map(Number);
    await until("it leads", () => existsSync(join(folder, "terms")) && terms().length === 1);
    await contender.lease.break("again");
    expect(await within("the end", ended), out()).toBe(5);
    const [first = 0, second = 0] = terms();
    expect(second).toBeGreaterThan(first);
  });

  it("does not stand again once it was asked to end, though the lease was lost at the same time", async () => {
    const script = `trap 'echo asked >> ${folder}/ending; sleep 0.5; exit 0' TERM; echo $$ > ${folder}/stopping; while :; do sleep 0.05; done`;
    const { child, ended, out } = quorate("elect", "stopping", "--", "sh", "-c", script);
    await pidIn("stopping");
    await contender.lease.requestHandover("stopping");
    await until("the command was asked to end", () => existsSync(join(folder, "ending")));
    child.kill("SIGTERM");
    expect(await within("the end", ended), out()).toBe(121);
  });
});

describe("quorate lease", () => {
  it("holds a lease until its standard input ends, and shows it meanwhile", async () => {
    const holding = quorate("lease", "acquire", "shown", "--json");
    await until("it holds", () => holding.out().includes("\n"));
    const { name, term } = JSON.parse(holding.out()) as { name: string; term: number };
    expect(name).toBe("shown");
    const shown = quorate("lease", "show", "shown", "--json");
    expect(await within("the end", shown.ended), shown.out()).toBe(0);
    expect(JSON.parse(shown.out())).toMatchObject({
      name: "shown",
      state: "held",
      term,
      history: [{ term, end: null, toRevision: null }],
    });
    const listed = quorate("lease", "list", "sho");
    expect(await within("the end", listed.ended), listed.out()).toBe(0);
    expect(listed.out()).toMatch(new RegExp(`^shown +held +${term} `, "m"));
    const sessions = quorate("session", "list", "--json");
    expect(await within("the end", sessions.ended), sessions.out()).toBe(0);
    const rows = sessions
      .out()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const [row] = rows.filter(({ holder }) => String(holder).endsWith(`/${holding.child.pid}`));
    expect(row).toMatchObject({ ttlMs: 15_000, held: 1, waiting: 0, keys: 0 });
    const closing = quorate("session", "close", String(row?.session));
    expect(await within("the end", closing.ended), closing.out()).toBe(1);
    expect(closing.out()).toMatch(/holds or waits for 1 leases/);
    holding.child.stdin?.end();
    expect(await within("the end", holding.ended), holding.out()).toBe(0);
    expect((await contender.lease.get("shown")).state).toBe("free");
    const after = quorate("lease", "show", "shown");
    expect(await within("the end", after.ended), after.out()).toBe(0);
    expect(after.out()).toMatch(new RegExp(`^${term} +\\d+ .* (released|closed)$`, "m"));
  });

  it("gives a lease back when somebody asks for it", async () => {
    const holding = quorate("lease", "acquire", "wanted");
    await until("it holds", () => holding.out().includes("\n"));
    await contender.lease.requestHandover("wanted");
    expect(await within("the end", holding.ended), holding.out()).toBe(0);
    expect((await contender.lease.get("wanted")).state).toBe("free");
  });

  it("says with code 5 that there is nobody to break or to ask", async () => {
    for (const words of [
      ["lease", "break", "nobody"],
      ["lease", "release", "nobody"],
      ["session", "close", "999999999"],
    ]) {
      const { ended, out } = quorate(...words);
      expect(await within("the end", ended), out()).toBe(5);
    }
  });
});
