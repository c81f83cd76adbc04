/**
 * What an idle 3-node cluster costs, beside three bare processes that exchange the same frames, in one run.
 *
 *   pnpm bench:idle [seconds]
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "quorate";
import { shareOfOneCore } from "./processTime.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("The system gave no port.");
  return address.port;
}

async function measureQuorate(seconds: number): Promise<number> {
  const command = fileURLToPath(new URL("bin/quorate.js", import.meta.resolve("quorate/package.json")));
  const directory = mkdtempSync(join(tmpdir(), "quorate-idle-"));
  const addresses: [string, string][] = [];
  for (const id of ["a", "b", "c"]) addresses.push([id, `ws://127.0.0.1:${await freePort()}`]);
  const peers = addresses.map(([id, address]) => `${id}=${address}`).join(",");
  const nodes = addresses.map(([id, address]) => {
    const options = ["--id", id, "--listen", address, "--peers", peers, "--data-dir", join(directory, id)];
    return spawn(process.execPath, [command, "node", ...options, "--log-level", "warn"], { stdio: "ignore" });
  });
  try {
    // A write that is acknowledged: the cluster is there, and from now on nothing happens.
    const endpoints = addresses.map(([, address]) => address);
    const cluster = connect({ endpoints, requestTimeoutMs: 20_000 });
    await cluster.kv.put("ready", true);
    await cluster.close();
    return await shareOfOneCore(
      nodes.map((node) => node.pid as number),
      seconds,
    );
  } finally {
    for (const node of nodes) node.kill("SIGTERM");
    await Promise.all(nodes.map((node) => once(node, "exit")));
    rmSync(directory, { recursive: true });
  }
}

async function measureBare(seconds: number): Promise<number> {
  const ports = [await freePort(), await freePort(), await freePort()];
  const program = fileURLToPath(new URL("./bareProcess.js", import.meta.url));
  const children: ChildProcess[] = ports.map((port) => {
    const others = ports.filter((other) => other !== port && other !== ports[0]);
    return fork(program, [port, ports[0], ...others].map(String));
  });
  try {
    await Promise.all(children.map((child) => once(child, "message")));
    return await shareOfOneCore(
      children.map((child) => child.pid as number),
      seconds,
    );
  } finally {
    for (const child of children) child.disconnect();
  }
}

const seconds = Number(process.argv[2] ?? 60);
const quorate = await measureQuorate(seconds);
const bare = await measureBare(seconds);
const round = (share: number): number => Math.round(share * 100) / 100;
console.log(
  JSON.stringify({
    seconds,
    quoratePercentOfOneCore: round(quorate),
    barePercentOfOneCore: round(bare),
    ratio: round(quorate / bare),
  }),
);
