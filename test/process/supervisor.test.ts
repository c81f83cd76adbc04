/** `quorate cluster`: what it starts, what it starts again, and that nothing is left of it. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { quorateCommand } from "./rig/nodeProcess.ts";
import { freePortBlock } from "./rig/ports.ts";
import { commandLineOf, isAlive, type SupervisedNode, SupervisorProcess } from "./rig/supervisorProcess.ts";
import { until } from "./rig/waiting.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "quorate-supervisor-"));
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function quorate(...words: readonly string[]): Promise<CommandResult> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [quorateCommand, ...words]);
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

function endpointsOf(nodes: readonly SupervisedNode[]): string {
  return nodes.map((node) => node.endpoint).join(",");
}

async function noneLeft(nodes: readonly SupervisedNode[], withinMs: number): Promise<void> {
  await until("no node is left", () => nodes.every((node) => !isAlive(node.pid)), { withinMs });
}

/** Started with ports that are free, and a directory of the test's own. */
async function start(
  name: string,
  ...more: readonly string[]
): Promise<{ supervisor: SupervisorProcess; port: string }> {
  const port = String(await freePortBlock(5));
  const dataDir = join(directory, name);
  const supervisor = new SupervisorProcess(["--base-port", port, "--data-dir", dataDir, ...more]);
  return { supervisor, port };
}

describe("the supervisor", () => {
  it("prints ready with endpoints that serve, and its nodes can be seen as what they are", async () => {
    const { supervisor } = await start("serves");
    await using _ = supervisor;
    const nodes = await supervisor.ready();
    console.log(`ready after ${Math.round(performance.now() - supervisor.startedMs)} ms`);
    expect(nodes.map((node) => node.id)).toEqual(["a", "b", "c"]);
    for (const node of nodes) {
      expect(commandLineOf(node.pid)).toMatch(new RegExp(`quorate\\S* node .*--id ${node.id} .*--data-dir`));
    }
    const endpoints = endpointsOf(nodes);
    expect(await quorate("put", "greeting", "hello", "--endpoints", endpoints)).toMatchObject({ code: 0 });
    expect(await quorate("get", "greeting", "--endpoints", endpoints)).toMatchObject({
      code: 0,
      stdout: "hello",
    });
    const status = JSON.parse((await quorate("status", "--json", "--endpoints", endpoints)).stdout);
    expect(Object.keys(status).sort()).toEqual(["clusterId", "leader", "nodes", "revision", "term"]);
    expect(status.nodes.map((node: SupervisedNode) => node.pid).sort()).toEqual(
      nodes.map((node) => node.pid).sort(),
    );
  });

  it.each(["SIGINT to the group", "SIGTERM"] as const)(
    "stops its nodes in turn on %s, and ends with 0",
    async (how) => {
      const { supervisor } = await start(`stops-${how.slice(0, 6)}`);
      await using _ = supervisor;
      const nodes = await supervisor.ready();
      const startedMs = performance.now();
      if (how === "SIGTERM") supervisor.signal("SIGTERM");
      else supervisor.ctrlC();
      expect(await supervisor.ended()).toEqual({ code: 0, signal: null });
      expect(performance.now() - startedMs).toBeLessThan(5_000);
      await noneLeft(nodes, 100);
      const exits = supervisor.events.filter((event) => event.event === "exit");
      expect(exits.map((event) => event.code)).toEqual([0, 0, 0]);
    },
  );

  it("does not start a node again that was removed, and goes on with the others", async () => {
    const { supervisor } = await start("removed");
    await using _ = supervisor;
    const endpoints = endpointsOf(await supervisor.ready());
    expect(await quorate("member", "remove", "b", "--endpoints", endpoints)).toMatchObject({ code: 0 });
    expect(await supervisor.event("failed")).toMatchObject({ id: "b", nodesLeft: 2 });
    expect(supervisor.events.find(({ event }) => event === "exit")).toMatchObject({ id: "b", code: 6 });
    expect(supervisor.events.filter(({ event }) => event === "restart")).toEqual([]);
    expect(await quorate("put", "key", "two are left", "--endpoints", endpoints)).toMatchObject({ code: 0 });
  });

  it("stops at once on a second Ctrl-C, even where a node does not answer", async () => {
    const { supervisor } = await start("impatient");
    await using _ = supervisor;
    const nodes = await supervisor.ready();
    for (const node of nodes) process.kill(node.pid, "SIGSTOP");
    supervisor.ctrlC();
    await supervisor.event("stopping");
    const startedMs = performance.now();
    await until("it has ended", async () => {
      supervisor.ctrlC();
      return supervisor.ended(300).catch(() => undefined);
    });
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    await noneLeft(nodes, 1_000);
  });

  it("leaves no node behind when it is killed, and a new one on the same ports finds the data", async () => {
    const { supervisor: first, port } = await start("killed");
    await using _first = first;
    const nodes = await first.ready();
    expect((await quorate("put", "kept", "yes", "--endpoints", endpointsOf(nodes))).code).toBe(0);
    first.signal("SIGKILL");
    await first.ended();
    await noneLeft(nodes, 2_000);
    const options = ["--base-port", port, "--data-dir", join(directory, "killed")];
    await using second = new SupervisorProcess(options);
    const endpoints = endpointsOf(await second.ready());
    expect(await quorate("get", "kept", "--endpoints", endpoints)).toMatchObject({ stdout: "yes" });
  });

  it("is seen to have ended where nobody has reaped it yet", async () => {
    // The shell becomes a program that never asks after the child it had; only then the child is let go.
    const heir = spawn("sh", ["-c", "exec 3<&0; cat <&3 & echo $!; exec sleep 60"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    try {
      const [line] = (await once(heir.stdout, "data")) as [Buffer];
      const orphan = Number(line.toString());
      await until("the shell is another program", () => commandLineOf(heir.pid ?? 0).startsWith("sleep"));
      expect(isAlive(orphan)).toBe(true);
      heir.stdin.end();
      await until("it has ended", () => !isAlive(orphan));
      expect(() => process.kill(orphan, 0)).not.toThrow();
    } finally {
      heir.kill("SIGKILL");
    }
  });

  it("starts a node again that crashed, and it takes part again", async () => {
    const { supervisor } = await start("crash");
    await using _ = supervisor;
    const [first] = (await supervisor.ready()) as [SupervisedNode];
    process.kill(first.pid, "SIGKILL");
    const restart = await supervisor.event("restart");
    expect(restart).toMatchObject({ id: "a" });
    await until("it follows or leads", () => {
      const last = supervisor.events.filter((event) => event.event === "status").at(-1);
      const nodes = (last?.nodes ?? []) as readonly { id: string; pid: number; role: string }[];
      return nodes.some((node) => node.pid === restart.pid && /leader|follower/.test(node.role));
    });
  });

  it("finds its data with other ports, and refuses another number of nodes with both numbers", async () => {
    const { supervisor: first } = await start("moved");
    await using _first = first;
    const endpoints = endpointsOf(await first.ready());
    expect((await quorate("put", "kept", "yes", "--endpoints", endpoints)).code).toBe(0);
    first.signal("SIGTERM");
    await first.ended();

    const { supervisor: five } = await start("moved", "--nodes", "5");
    await using _five = five;
    expect((await five.ended()).code).toBe(2);
    expect(five.errors).toMatch(/3/);
    expect(five.errors).toMatch(/5/);

    const { supervisor: moved } = await start("moved");
    await using _moved = moved;
    const now = endpointsOf(await moved.ready());
    expect(await quorate("get", "kept", "--endpoints", now)).toMatchObject({ stdout: "yes" });
  });

  it.each(["1", "5"])("runs %s nodes as well, in a temporary directory that is removed", async (count) => {
    const port = String(await freePortBlock(5));
    await using supervisor = new SupervisorProcess(["--base-port", port, "--ephemeral", "--nodes", count]);
    const nodes = await supervisor.ready();
    expect(nodes).toHaveLength(Number(count));
    const { dataDir } = (await supervisor.event("ready")) as unknown as { dataDir: string };
    expect((await quorate("put", "k", "v", "--endpoints", endpointsOf(nodes))).code).toBe(0);
    supervisor.signal("SIGTERM");
    expect(await supervisor.ended()).toEqual({ code: 0, signal: null });
    await expect(rm(dataDir)).rejects.toThrow(/ENOENT/);
  });

  it("refuses ports that are taken, and names one", async () => {
    const { supervisor, port } = await start("first-there");
    await using _ = supervisor;
    await supervisor.ready();
    await using late = new SupervisorProcess(["--base-port", port, "--data-dir", join(directory, "late")]);
    expect((await late.ended()).code).not.toBe(0);
    expect(late.errors).toContain(port);
  });
});
