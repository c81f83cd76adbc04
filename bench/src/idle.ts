/**
 * What an idle 3-node cluster costs, beside three bare processes that exchange the same frames, in one run.
 *
 *   pnpm bench:idle [seconds]
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { connect } from "quorate";
import { freePort, startNodes } from "./localNodes.ts";
import { shareOfOneCore } from "./processTime.ts";

async function measureQuorate(seconds: number): Promise<number> {
  const { endpoints, nodes, stop } = await startNodes();
  try {
    // A write that is acknowledged: the cluster is there, and from now on nothing happens.
    const cluster = connect({ endpoints, requestTimeoutMs: 20_000 });
    await cluster.kv.put("ready", true);
    await cluster.close();
    return await shareOfOneCore(
      nodes.map((node) => node.pid as number),
      seconds,
    );
  } finally {
    await stop();
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
