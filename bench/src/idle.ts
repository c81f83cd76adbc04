/**
 * What an idle 3-node cluster costs, beside three bare processes that exchange the same frames, in one run.
 *
 *   pnpm bench:idle [seconds]
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
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

async function freeRange(count: number): Promise<number> {
  // A base port whose neighbours are likely free as well: the supervisor says so if they are not.
  return (await freePort()) - count;
}

async function measureQuorate(seconds: number): Promise<number> {
  const command = fileURLToPath(import.meta.resolve("quorate/package.json")).replace(
    "package.json",
    "bin/quorate.js",
  );
  const basePort = String(await freeRange(3));
  const supervisor = spawn(
    process.execPath,
    [command, "cluster", "--json", "--ephemeral", "--base-port", basePort],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    for await (const line of createInterface({ input: supervisor.stdout })) {
      const event = JSON.parse(line) as { event: string; nodes?: { pid: number }[] };
      if (event.event !== "ready") continue;
      const pids = (event.nodes ?? []).map((node) => node.pid);
      return await shareOfOneCore(pids, seconds);
    }
    throw new Error("The cluster ended before it was ready.");
  } finally {
    supervisor.kill("SIGTERM");
    await once(supervisor, "exit");
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
