/** Are the nodes' ports free? Asked before anything is started, for one clear sentence instead of one a node. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { CommandFailure, exitCodes } from "../exitCodes.ts";

/** Nodes of a supervisor that was killed are gone by then. */
const leftBehindMs = 2_500;
const retryMs = 50;

/** Rejects with a sentence that names the ports in use. Waits for them only after a supervisor was killed. */
export async function expectFreePorts(ports: readonly number[], wasLeftBehind: boolean): Promise<void> {
  const deadlineMs = performance.now() + (wasLeftBehind ? leftBehindMs : 0);
  for (;;) {
    const taken = await takenPorts(ports);
    if (taken.length === 0) return;
    if (performance.now() >= deadlineMs) throw portsTaken(taken);
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

async function takenPorts(ports: readonly number[]): Promise<readonly number[]> {
  const free = await Promise.all(ports.map(isFree));
  return ports.filter((_, index) => !free[index]);
}

/** A port that we may not use (below 1024 perhaps) is left to its node, which says why. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "EADDRINUSE"));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

function portsTaken(taken: readonly number[]): CommandFailure {
  const [what, them] = taken.length === 1 ? ["Port", "it"] : ["Ports", "them"];
  return new CommandFailure(
    exitCodes.failed,
    `${what} ${taken.join(", ")} of 127.0.0.1 ${taken.length === 1 ? "is" : "are"} in use by another process. ` +
      `Stop what uses ${them}, or choose other ports with --base-port.`,
  );
}

/** Below the range from which the system takes the ports of outgoing connections. */
const blockFrom = 10_000;
const blockTo = 32_000;
const attempts = 200;

/** The first of `count` consecutive free ports, found by trying. */
export async function freePortBlock(count: number): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const first = randomInt(blockFrom, blockTo - count);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if ((await takenPorts(ports)).length === 0) return first;
  }
  throw new CommandFailure(exitCodes.failed, `No ${count} consecutive ports of 127.0.0.1 are free.`);
}
