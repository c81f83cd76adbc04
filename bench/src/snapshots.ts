/**
 * What snapshots cost while a cluster of three works: pauses of the event loop, throughput and memory; how long a new
 * node takes to join by one, and a killed node to serve again.
 *
 *   pnpm bench:snapshots [keys, by default 1000000]
 *
 * Values have 256 bytes. All nodes and the client share this machine, so that with fewer cores than processes the
 * figures are those of a busy one: a pause then is mostly the waiting for a processor. So there are two figures of the
 * worst one, of any of the three nodes: all of it, and what is left without the waiting.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "quorate";
import { nodeExecArgv } from "quorate/internal";
import { freePort } from "./localNodes.ts";

interface Report {
  readonly kind: string;
  readonly atMs: number;
  readonly role?: string;
  readonly appliedIndex?: number;
  readonly commitIndex?: number;
  readonly pauseMs?: number;
  readonly ownPauseMs?: number;
  readonly rss?: number;
  readonly durationMs?: number;
  readonly snapshotBytes?: number;
}

interface Running {
  readonly child: ChildProcess;
  readonly reports: Report[];
}

const valueBytes = 256;
const underWay = 512;
/** How often a node tells of itself. */
const reportMs = 100;
const keys = Number(process.argv[2] ?? 1_000_000);
const directory = mkdtempSync(join(tmpdir(), "quorate-snapshots-"));
const program = fileURLToPath(new URL("./snapshotNode.js", import.meta.url));
const nowMs = (): number => performance.timeOrigin + performance.now();

function start(id: string, place: Record<string, unknown>): Running {
  const words = [id, join(directory, id), JSON.stringify(place)];
  const child = fork(program, words, { execArgv: [...nodeExecArgv(process.env.NODE_OPTIONS)] });
  const reports: Report[] = [];
  child.on("message", (report) => {
    const told = report as Report;
    reports.push(told);
    if (told.kind === "warning" || told.kind === "error") console.error(id, JSON.stringify(told));
  });
  return { child, reports };
}

async function until(what: string, withinS: number, isTrue: () => boolean): Promise<number> {
  const beganMs = nowMs();
  while (!isTrue()) {
    if (nowMs() - beganMs > withinS * 1_000) throw new Error(`After ${withinS} s there was no ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return nowMs() - beganMs;
}

const lastState = ({ reports }: Running): Report | undefined =>
  reports.findLast(({ kind }) => kind === "state");

/** Acknowledged writes, by when. */
const acknowledgedMs: number[] = [];

const ids = ["a", "b", "c"];
const addresses = new Map<string, string>();
for (const id of [...ids, "d"]) addresses.set(id, `ws://127.0.0.1:${await freePort()}`);
const peers = Object.fromEntries(ids.map((id) => [id, addresses.get(id) as string]));
const endpoints = Object.values(peers);
const nodes = new Map(ids.map((id) => [id, start(id, { peers, listen: peers[id] })]));
const members = [...nodes.values()];
const cluster = connect({ endpoints, requestTimeoutMs: 60_000 });

/** Writes keys from `first` on until `isOver`, with so many under way. */
async function write(first: number, isOver: (key: number) => boolean): Promise<void> {
  let next = first;
  const value = new Uint8Array(valueBytes).fill(120);
  const worker = async (): Promise<void> => {
    while (!isOver(next)) {
      const key = next % keys;
      next += 1;
      await cluster.kv.put(`key/${String(key).padStart(7, "0")}`, value);
      acknowledgedMs.push(nowMs());
    }
  };
  await Promise.all(Array.from({ length: underWay }, worker));
}

/** When a node took snapshots: from, to. */
function intervals({ reports }: Running): (readonly [number, number])[] {
  return reports
    .filter(({ kind }) => kind === "snapshotTaken")
    .map(({ atMs, durationMs = 0 }) => [atMs - durationMs, atMs] as const);
}

const round = (value: number): number => Math.round(value * 10) / 10;

type PauseKind = "pauseMs" | "ownPauseMs";

/** The worst one under load of any node, while that node took a snapshot or while it took none. */
function worstPause(members: readonly Running[], kind: PauseKind, during: boolean): number {
  const [firstMs = 0] = acknowledgedMs;
  const lastMs = acknowledgedMs.at(-1) ?? 0;
  let worst = 0;
  for (const member of members) {
    const taking = intervals(member);
    for (const { atMs, [kind]: pauseMs = 0 } of member.reports) {
      const isTaking = taking.some(([from, to]) => atMs >= from && atMs <= to + reportMs);
      if (isTaking === during && atMs >= firstMs && atMs <= lastMs) worst = Math.max(worst, pauseMs);
    }
  }
  return round(worst);
}

/** Pauses of the three nodes, and the throughput while the leader took snapshots and while it took none. */
function figures(members: readonly Running[], leader: Running): Record<string, number> {
  const taking = intervals(leader);
  const isTaking = (atMs: number): boolean => taking.some(([from, to]) => atMs >= from && atMs <= to);
  const takingMs = taking.reduce((sum, [from, to]) => sum + to - from, 0);
  const [firstMs = 0] = acknowledgedMs;
  const allMs = (acknowledgedMs.at(-1) ?? 0) - firstMs;
  const during = acknowledgedMs.filter(isTaking).length;
  const writesPerSDuring = (1_000 * during) / Math.max(1, takingMs);
  const writesPerSOtherwise = (1_000 * (acknowledgedMs.length - during)) / Math.max(1, allMs - takingMs);
  return {
    snapshots: taking.length,
    longestSnapshotMs: Math.round(Math.max(0, ...taking.map(([from, to]) => to - from))),
    worstPauseDuringMs: worstPause(members, "pauseMs", true),
    worstPauseOtherwiseMs: worstPause(members, "pauseMs", false),
    worstOwnPauseDuringMs: worstPause(members, "ownPauseMs", true),
    worstOwnPauseOtherwiseMs: worstPause(members, "ownPauseMs", false),
    writesPerSDuring: Math.round(writesPerSDuring),
    writesPerSOtherwise: Math.round(writesPerSOtherwise),
    dropPercent: Math.round(100 * (1 - writesPerSDuring / writesPerSOtherwise)),
  };
}

try {
  await cluster.kv.put("ready", true);
  await write(0, (key) => key >= keys);
  const leader = [...nodes.values()].find((node) => lastState(node)?.role === "leader");
  if (leader === undefined) throw new Error("Nobody leads.");
  let isOver = false;
  const load = write(0, () => isOver);
  const d = start("d", { via: endpoints, listen: addresses.get("d") });
  nodes.set("d", d);
  const target = lastState(leader)?.commitIndex ?? 0;
  const joinMs = await until("new node that is up to date", 300, () => {
    return (lastState(d)?.appliedIndex ?? 0) >= target;
  });
  isOver = true;
  await load;
  const isBySnapshot = d.reports.some(({ kind }) => kind === "snapshotInstalled");
  const b = [...nodes].find(([id, node]) => id !== "d" && node !== leader);
  if (b === undefined) throw new Error("There is no follower.");
  const [id, killed] = b;
  killed.child.kill("SIGKILL");
  await once(killed.child, "exit");
  const committed = lastState(leader)?.commitIndex ?? 0;
  const again = start(id, { peers, listen: peers[id] });
  nodes.set(id, again);
  const restartMs = await until("node that serves again", 300, () => {
    return (lastState(again)?.appliedIndex ?? 0) >= committed;
  });
  const rss = Math.max(
    ...[...nodes.values(), killed].flatMap(({ reports }) => reports.map((one) => one.rss ?? 0)),
  );
  const dataBytes = keys * (valueBytes + 11);
  const MB = 1e6;
  console.log(
    JSON.stringify({
      keys,
      ...figures(members, leader),
      joinS: round(joinMs / 1_000),
      joinedBySnapshot: isBySnapshot,
      restartS: round(restartMs / 1_000),
      snapshotMB: Math.round((lastState(leader)?.snapshotBytes ?? 0) / MB),
      mostMemoryMB: Math.round(rss / MB),
      allowedMemoryMB: Math.round((2 * dataBytes) / MB + 200),
    }),
  );
} finally {
  await cluster.close();
  for (const { child } of nodes.values()) child.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
