/**
 * Ports that nobody listens at, chosen by trying. They lie below the range from which the system takes the ports of
 * outgoing connections, so that a node which is restarted finds its own port still free.
 */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

const lowest = 10_000;
const highest = 32_000;
const given = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** `count` consecutive free ports; the first of them. */
export async function freePortBlock(count: number): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const first = randomInt(lowest, highest - count);
    const block = Array.from({ length: count }, (_, i) => first + i);
    if (block.some((port) => given.has(port))) continue;
    const free = await Promise.all(block.map(isFree));
    if (!free.every(Boolean)) continue;
    for (const port of block) given.add(port);
    return first;
  }
  throw new Error(`No ${count} consecutive free ports between ${lowest} and ${highest}`);
}
