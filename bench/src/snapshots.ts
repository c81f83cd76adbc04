/**
 * What snapshots cost while a cluster of three works: pauses of the event loop, throughput and memory; how long a new
 * node takes to join by one, and a killed node to serve again.
 *
 *   pnpm bench:snapshots [keys, by default 1000000] [writes a second of the steady load, by default 5000]
 *
 * Values have 256 bytes. First as many writes as the machine can do: all keys, and on until a new node has joined. Then
 * a steady load, from ten seconds after its beginning until every node has taken a snapshot in it.
 *
 * All nodes and the client share this machine. Where it is saturated and has fewer cores than processes, a pause is
 * mostly the waiting for a processor. So there are two figures of the worst one, of any of the three nodes: all of it,
 * and what is left without the waiting.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect } from "quorate";
import { nodeEnvironment, nodeExecArgv } from "quorate/internal";
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
const steadyWritesPerS = Number(process.argv[3] ?? 5_000);
const tickMs = 5;
/** The nodes have work left of what was before, and new code to compile. */
const settlingMs = 10_000;
const directory = mkdtempSync(join(tmpdir(), "quorate-snapshots-"));
const program = fileURLToPath(new URL("./snapshotNode.js", import.meta.url));
const nowMs = (): number => performance.timeOrigin + performance.now();

function start(id: string, place: Record<string, unknown>): Running {
  const words = [id, join(directory, id), JSON.stringify(place)];
  const child = fork(program, words, {
    execArgv: [...nodeExecArgv(process.env.NODE_OPTIONS)],
    env: nodeEnvironment(process.env),
  });
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
    await sleep(20);
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

const value = new Uint8Array(valueBytes).fill(120);

async function put(n: number): Promise<void> {
  await cluster.kv.put(`key/${String(n % keys).padStart(7, "0")}`, value);
  acknowledgedMs.push(nowMs());
}

/** As many as can be done, with so many under way. */
async function saturate(isOver: (written: number) => boolean): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (!isOver(next)) {
      next += 1;
      await put(next - 1);
    }
  };
  await Promise.all(Array.from({ length: underWay }, worker));
}

/** So many a second, whether or not those before were acknowledged. */
async function writeSteadily(isOver: () => boolean): Promise<void> {
  const beganMs = nowMs();
  const writes: Promise<void>[] = [];
  while (!isOver()) {
    const due = ((nowMs() - beganMs) * steadyWritesPerS) / 1_000;
    while (writes.length < due) writes.push(put(writes.length));
    await sleep(tickMs);
  }
  await Promise.all(writes);
}

/** When a node took snapshots: from, to. */
function intervals({ reports }: Running): (readonly [number, number])[] {
  return reports
    .filter(({ kind }) => kind === "snapshotTaken")
    .map(({ atMs, durationMs = 0 }) => [atMs - durationMs, atMs] as const);
}

const MB = 1e6;
const mostMemoryMB = ({ reports }: Running): number =>
  Math.round(Math.max(...reports.map(({ rss = 0 }) => rss)) / MB);

const round = (value: number): number => Math.round(value * 10) / 10;

type PauseKind = "pauseMs" | "ownPauseMs";

/** Of the benchmark: from, to. */
interface Phase {
  readonly fromMs: number;
  readonly toMs: number;
}

async function phase(work: Promise<void>): Promise<Phase> {
  const fromMs = nowMs();
  await work;
  return { fromMs, toMs: nowMs() };
}

/** The worst one of any node, while that node took a snapshot or while it took none. */
function worstPause({ fromMs, toMs }: Phase, kind: PauseKind, during: boolean): number {
  let worst = 0;
  for (const member of members) {
    const taking = intervals(member);
    for (const { atMs, [kind]: pauseMs = 0 } of member.reports) {
      const isTaking = taking.some(([from, to]) => atMs >= from && atMs <= to + reportMs);
      if (isTaking === during && atMs >= fromMs + reportMs && atMs <= toMs) worst = Math.max(worst, pauseMs);
    }
  }
  return round(worst);
}

/** Pauses of the three nodes, and the throughput while the leader took snapshots and while it took none. */
function figures(name: string, over: Phase, leader: Running): Record<string, unknown> {
  const isIn = (atMs: number): boolean => atMs >= over.fromMs && atMs <= over.toMs;
  const taking = intervals(leader).filter(([from, to]) => isIn(from) && isIn(to));
  const isTaking = (atMs: number): boolean => taking.some(([from, to]) => atMs >= from && atMs <= to);
  const takingMs = taking.reduce((sum, [from, to]) => sum + to - from, 0);
  const acknowledged = acknowledgedMs.filter(isIn);
  const during = acknowledged.filter(isTaking).length;
  const writesPerSDuring = (1_000 * during) / Math.max(1, takingMs);
  const writesPerSOtherwise =
    (1_000 * (acknowledged.length - during)) / Math.max(1, over.toMs - over.fromMs - takingMs);
  return {
    load: name,
    seconds: round((over.toMs - over.fromMs) / 1_000),
    snapshotsOfLeader: taking.length,
    longestSnapshotMs: Math.round(Math.max(0, ...taking.map(([from, to]) => to - from))),
    worstPauseDuringMs: worstPause(over, "pauseMs", true),
    worstPauseOtherwiseMs: worstPause(over, "pauseMs", false),
    worstOwnPauseDuringMs: worstPause(over, "ownPauseMs", true),
    worstOwnPauseOtherwiseMs: worstPause(over, "ownPauseMs", false),
    writesPerSDuring: Math.round(writesPerSDuring),
    writesPerSOtherwise: Math.round(writesPerSOtherwise),
    dropPercent: Math.round(100 * (1 - writesPerSDuring / writesPerSOtherwise)),
  };
}

try {
  await cluster.kv.put("ready", true);
  let hasJoined = false;
  const saturated = phase(saturate((written) => written >= keys && hasJoined));
  await until("first write of each key", 600, () => acknowledgedMs.length >= keys);
  const leader = members.find((node) => lastState(node)?.role === "leader");
  if (leader === undefined) throw new Error("Nobody leads.");
  const d = start("d", { via: endpoints, listen: addresses.get("d") });
  nodes.set("d", d);
  const target = lastState(leader)?.commitIndex ?? 0;
  const joinMs = await until("new node that is up to date", 300, () => {
    return (lastState(d)?.appliedIndex ?? 0) >= target;
  });
  hasJoined = true;
  console.log(JSON.stringify(figures("as much as can be done", await saturated, leader)));

  let isSteadyOver = false;
  const steadyLoad = writeSteadily(() => isSteadyOver);
  await sleep(settlingMs);
  const steadyFromMs = nowMs();
  const haveTaken = (): boolean =>
    [...nodes.values()].every((node) => intervals(node).some(([from]) => from >= steadyFromMs));
  const steady = phase(steadyLoad);
  await until("snapshot of every node under the steady load", 600, haveTaken);
  isSteadyOver = true;
  console.log(JSON.stringify(figures(`${steadyWritesPerS} a second`, await steady, leader)));

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
  const dataBytes = keys * (valueBytes + 11);
  console.log(
    JSON.stringify({
      keys,
      joinS: round(joinMs / 1_000),
      joinedBySnapshot: isBySnapshot,
      restartS: round(restartMs / 1_000),
      snapshotMB: Math.round((lastState(leader)?.snapshotBytes ?? 0) / MB),
      mostMemoryMB: {
        leader: mostMemoryMB(leader),
        followers: Math.max(...members.filter((node) => node !== leader).map(mostMemoryMB)),
        joined: mostMemoryMB(d),
        restarted: mostMemoryMB(again),
      },
      allowedMemoryMB: Math.round((2 * dataBytes) / MB + 200),
    }),
  );
} finally {
  await cluster.close();
  for (const { child } of nodes.values()) child.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
