/**
 * A process that waits for a lease, holds it, and looks at it as often as it can. What it finds goes out as lines of
 * JSON, with times of the clock that all processes of a machine share.
 *
 *   node leaseHolder.js ENDPOINTS NAME TTL       commands on standard input: release | block MS
 */
import { createInterface } from "node:readline";
import { connect } from "@quorate/client";

const [endpoints = "", name = "", ttlMs = ""] = process.argv.slice(2);
const cluster = connect({ endpoints: endpoints.split(","), sessionTtlMs: Number(ttlMs) });

function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

function tell(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

tell({ kind: "waiting" });
const lease = await cluster.lease.acquire(name);
lease.check();
tell({ kind: "held", atMs: nowMs(), term: lease.term });
let lastMs = nowMs();
let isOver = false;

/** The time is read first: it passed the check at that instant, or later. */
function look() {
  if (isOver) return;
  const readMs = nowMs();
  try {
    lease.check();
    lastMs = readMs;
    setImmediate(look);
  } catch (error) {
    isOver = true;
    tell({ kind: "over", lastMs, reason: error.reason });
  }
}
look();

createInterface({ input: process.stdin }).on("line", async (line) => {
  const [command, ms] = line.split(" ");
  if (command === "block") {
    const endMs = nowMs() + Number(ms);
    while (nowMs() < endMs);
    look();
    return;
  }
  tell({ kind: "releasing", atMs: nowMs() });
  await lease.release();
  await cluster.close();
  process.exit(0);
});
