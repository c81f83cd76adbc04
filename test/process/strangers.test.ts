/** Who does not belong is refused, with a sentence; nobody else notices. */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { NodeProcess } from "./rig/nodeProcess.ts";
import { sealed } from "./rig/nodeSpeaker.ts";
import { freePortBlock } from "./rig/ports.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { until, within } from "./rig/waiting.ts";

let cluster: RealCluster;
let term: number;

beforeAll(async () => {
  cluster = await RealCluster.start({ size: 3 });
  term = (await cluster.agree(["a", "b", "c"]))[0]?.term ?? 0;
  const client = await cluster.client();
  await client.kv.put("here", "1");
});

afterAll(async () => {
  await cluster.dispose();
});

/** No election, no lost write, no node that went down. */
async function expectUndisturbed(): Promise<void> {
  expect(cluster.nodes.every((node) => node.isRunning)).toBe(true);
  const views = await cluster.agree(["a", "b", "c"]);
  expect(views.map((view) => view.term)).toEqual([term, term, term]);
  const client = await cluster.client();
  expect((await client.kv.get("here"))?.value).toBe("1");
}

async function freeAddress(): Promise<string> {
  return `ws://127.0.0.1:${await freePortBlock(1)}`;
}

interface Refused {
  readonly status: number;
  readonly words: string;
}

/** The answer to an upgrade that is refused. */
function refusal(address: string, headers: Record<string, string>): Promise<Refused> {
  const socket = new WebSocket(address, { headers });
  return new Promise((resolve, reject) => {
    socket.on("unexpected-response", (_request, response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, words: Buffer.concat(chunks).toString() });
      });
    });
    socket.on("open", () => reject(new Error("It was let in")));
    socket.on("error", reject);
  });
}

/** A client's connection, let in. */
function connection(address: string): Promise<WebSocket> {
  const headers = { "x-quorate-role": "client", "x-quorate-protocol": "1-1" };
  const socket = new WebSocket(address, { headers, perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(socket));
    socket.once("error", reject);
  });
}

function closed(socket: WebSocket): Promise<void> {
  // The other side may reset the connection while a large frame is under way.
  socket.on("error", () => {});
  return within("the end of the connection", new Promise((resolve) => socket.once("close", () => resolve())));
}

describe("a stranger", () => {
  it("that opens a directory which a node has open is refused, and ends", async () => {
    const { spec } = cluster.node("b");
    const second = new NodeProcess({ ...spec, listen: await freeAddress() });
    second.start();
    const { code } = await second.ended();
    expect(code).not.toBe(0);
    expect(second.log).toMatch(/DIRECTORY_IN_USE/);
    expect(second.log).toContain(spec.dataDir);
    await expectUndisturbed();
  });

  it("with another node's directory is refused, and ends", async () => {
    const { spec } = cluster.node("b");
    const directory = join(cluster.directory, "of-c");
    const first = new NodeProcess({ ...spec, id: "c", listen: await freeAddress(), dataDir: directory });
    first.start();
    await until("it has made its directory", async () => first.isRunning && (await isMade(directory)));
    await first.kill();
    const wrong = new NodeProcess({ ...spec, listen: await freeAddress(), dataDir: directory });
    wrong.start();
    const { code } = await wrong.ended();
    expect(code).not.toBe(0);
    expect(wrong.log).toMatch(/WRONG_DIRECTORY/);
    await rm(directory, { recursive: true });
    await expectUndisturbed();
  });

  it("of another cluster stays out and says so, in the place of a member that is down", async () => {
    await using other = await RealCluster.start({ size: 3 });
    await other.node("c").kill();
    const own = cluster.node("c");
    await own.kill();
    const stranger = new NodeProcess({ ...own.spec, dataDir: other.node("c").spec.dataDir });
    stranger.start();
    try {
      const words = await until("it says why it stays out", async () => {
        const complaints = (await cluster.view("c"))?.complaints.join(" ") ?? "";
        const said = stranger.isRunning ? complaints : stranger.log;
        return /cluster/.test(said) ? said : undefined;
      });
      console.log(`a node of another cluster: ${words.slice(0, 400)}`);
      const views = await cluster.agree(["a", "b"]);
      expect(views.map((view) => view.clusterId)).not.toContain((await other.view("a"))?.clusterId);
    } finally {
      await stranger.kill();
      own.start();
    }
    await cluster.healthy();
    term = (await cluster.agree(["a", "b", "c"]))[0]?.term ?? 0;
    await expectUndisturbed();
  });

  it.each(["client", "peer"])(
    "of an unknown protocol version is refused as a %s, with both ranges",
    async (role) => {
      const member = {
        node: "b",
        incarnation: "0123456789abcdef",
        start: "0".repeat(16),
        boot: "1",
        sequence: "1",
      };
      const hello = {
        role,
        protocol: "77-99",
        ...(role === "peer" ? { ...member, address: "ws://127.0.0.1:1", to: "a" } : {}),
      };
      const headers = Object.fromEntries(
        Object.entries(hello).map(([name, value]) => [`x-quorate-${name}`, value]),
      );
      const { status, words } = await refusal(cluster.node("a").spec.listen, headers);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(words).toMatch(/77/);
      expect(words).toMatch(/99/);
      expect(words).toMatch(/\b1\b/);
      await expectUndisturbed();
    },
  );

  it.each([
    ["random bytes", (size: number) => randomBytes(size)],
    ["random bytes with the right checksum", (size: number) => sealed(randomBytes(size))],
  ])("that sends frames of %s loses its connection", async (_what, frameOf) => {
    for (const size of [1, 10, 1_000, 100_000]) {
      const socket = await connection(cluster.node("a").spec.listen);
      socket.send(frameOf(size));
      await closed(socket);
    }
    await expectUndisturbed();
  });

  it("that sends a frame of 200 MB loses its connection before it is through", async () => {
    for (const node of cluster.nodes) {
      const socket = await connection(node.spec.listen);
      socket.send(Buffer.alloc(200 * 1024 * 1024));
      await closed(socket);
    }
    await expectUndisturbed();
  });

  it("that speaks plain HTTP, or nothing, is answered or left alone", async () => {
    const address = cluster.node("a").spec.listen.replace("ws:", "http:");
    const response = await fetch(`${address}/no/such/thing`);
    expect(response.status).toBeGreaterThanOrEqual(400);
    await response.arrayBuffer();
    await expectUndisturbed();
  });
});

async function isMade(directory: string): Promise<boolean> {
  const { readdir } = await import("node:fs/promises");
  return (await readdir(directory)).includes("witness");
}
