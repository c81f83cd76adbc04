/** Three nodes of the built command on this machine, each a process, in a directory that goes with them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface LocalNodes {
  readonly endpoints: readonly string[];
  readonly nodes: readonly ChildProcess[];
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("The system gave no port.");
  return address.port;
}

export async function startNodes(): Promise<LocalNodes> {
  const command = fileURLToPath(new URL("bin/quorate.js", import.meta.resolve("quorate/package.json")));
  const directory = mkdtempSync(join(tmpdir(), "quorate-bench-"));
  const addresses: [string, string][] = [];
  for (const id of ["a", "b", "c"]) addresses.push([id, `ws://127.0.0.1:${await freePort()}`]);
  const peers = addresses.map(([id, address]) => `${id}=${address}`).join(",");
  const nodes = addresses.map(([id, address]) => {
    const options = ["--id", id, "--listen", address, "--peers", peers, "--data-dir", join(directory, id)];
    return spawn(process.execPath, [command, "node", ...options, "--log-level", "warn"], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  });
  return {
    endpoints: addresses.map(([, address]) => address),
    nodes,
    async stop() {
      for (const node of nodes) node.kill("SIGTERM");
      await Promise.all(nodes.map((node) => node.exitCode ?? once(node, "exit")));
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
