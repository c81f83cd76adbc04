/**
 * Sessions, leases and watches by the thousands on a cluster of three, all on this machine.
 *
 *   pnpm bench:leases [sessions, by default 20000] [part]...
 *
 * The parts, each on the same cluster, one after the other; by default all:
 *   handover   how long until the next one in the queue has the lease: after a release, a resignation, a crash
 *   waiters    the same with a thousand waiters for one name, each of which gives it back at once
 *   keepAlives what so many sessions that are renewed cost the leader, beside as many watches
 *   expiry     all of them fall silent at the same instant: when is the last one ended, and how long do writes take
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Cluster, connect } from "quorate";
import { byRelease, byResignation, Handovers, type HandoverTime } from "./handovers.ts";
import type { Order, Report } from "./leaseHolders.ts";
import { startNodes } from "./localNodes.ts";
import { shareOfOneCore } from "./processTime.ts";

const [given, ...parts] = process.argv.slice(2);
const sessions = Number(given ?? 20_000);
const handovers = 50;
const warmUps = 500;
const handoverBoundMs = 10;
const crashes = 3;
const waiters = 1_000;
/** Each opens a connection to each node. */
const clusterObjects = 40;
const ttlMs = 15_000;
const crashTtlMs = 2_000;
const windowS = 30;
const putEveryMs = 5;
/** Of the leases that expire, each so many is looked at by somebody; after a second, all are listed. */
const lookedAtStep = 20;

const program = fileURLToPath(new URL("./leaseHolders.js", import.meta.url));
const local = await startNodes();
const endpoints = [...local.endpoints];
const uptimeMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const round = (value: number): number => Math.round(value * 10) / 10;
const wants = (part: string): boolean => parts.length === 0 || parts.includes(part);
const tell = (figures: Record<string, unknown>): void => console.log(JSON.stringify(figures));

function shares(values: readonly number[]): { p50Ms: number; p99Ms: number; maxMs: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => round(sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN);
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

function startClients(): ChildProcess {
  return fork(program, endpoints);
}

async function told<Kind extends Report["kind"]>(
  clients: ChildProcess,
  kind: Kind,
): Promise<Extract<Report, { kind: Kind }>> {
  const gone = new AbortController();
  const onExit = (): void => gone.abort(new Error(`The clients ended before they had said "${kind}".`));
  clients.once("exit", onExit);
  try {
    for (;;) {
      const [report] = (await once(clients, "message", { signal: gone.signal })) as [Report];
      if (report.kind === kind) return report as Extract<Report, { kind: Kind }>;
    }
  } finally {
    clients.off("exit", onExit);
  }
}

async function order(clients: ChildProcess, what: Order): Promise<Extract<Report, { kind: "done" }>> {
  const done = told(clients, "done");
  clients.send(what);
  return done;
}

/** On a machine that is too busy, holders stand still past their deadlines: then there is nothing to measure. */
async function requireAllHeld(holders: ChildProcess): Promise<void> {
  const { lost } = await order(holders, { kind: "tell" });
  if (Object.keys(lost).length === 0) return;
  throw new Error(
    `Holders lost leases, by reason: ${JSON.stringify(lost)}. Measure on a machine that is at rest.`,
  );
}

async function measureHandovers(measured: Handovers, a: Cluster, b: Cluster, of: string): Promise<void> {
  for (const [how, by] of [
    ["release", byRelease],
    ["resignation", byResignation],
  ] as const) {
    const times: HandoverTime[] = [];
    for (let n = 0; n < handovers; n += 1) times.push(await measured.measure(by(a, b), 20));
    const [took, own] = [times.map(({ tookMs }) => tookMs), times.map(({ ownMs }) => ownMs)];
    const within = (values: readonly number[]): number => values.filter((ms) => ms <= handoverBoundMs).length;
    const within10Ms = { all: within(took), own: within(own) };
    tell({
      figure: `handover after ${how}`,
      of,
      count: handovers,
      ...shares(took),
      own: shares(own),
      within10Ms,
    });
  }
}

/** First of processes that have just begun and run most of their code uncompiled, then of such that have worked. */
async function measureHandover(a: Cluster, b: Cluster): Promise<void> {
  const measured = new Handovers(await leaderPid(a));
  await measureHandovers(measured, a, b, "processes that have just begun");
  for (let n = 0; n < warmUps; n += 1) {
    await measured.measure(byRelease(a, b), 0);
    await measured.measure(byResignation(a, b), 0);
  }
  await measureHandovers(measured, a, b, "processes that have worked");
}

async function measureCrash(b: Cluster): Promise<void> {
  const taken: number[] = [];
  for (let n = 0; n < crashes; n += 1) {
    const clients = startClients();
    await order(clients, {
      kind: "hold",
      count: 1,
      clusters: 1,
      ttlMs: crashTtlMs,
      watches: false,
    });
    const next = b.lease.acquire("held/00000");
    await sleep(700);
    const killedMs = uptimeMs();
    clients.kill("SIGKILL");
    const lease = await next;
    taken.push(uptimeMs() - killedMs);
    await lease.release();
  }
  tell({ figure: "handover after a crash", ttlMs: crashTtlMs, boundMs: crashTtlMs + 150, ...shares(taken) });
}

async function measureWaiters(a: Cluster): Promise<void> {
  const clients = startClients();
  const held = await a.lease.acquire("popular");
  await order(clients, { kind: "wait", name: "popular", count: waiters, clusters: 20, ttlMs: 60_000 });
  const beganMs = uptimeMs();
  await held.release();
  while ((await a.lease.get("popular")).state !== "free") await sleep(20);
  const perHandoverMs = (uptimeMs() - beganMs) / waiters;
  tell({ figure: "handover among waiters", waiters, meanMs: round(perHandoverMs) });
  await order(clients, { kind: "close" });
}

async function leaderPid(cluster: Cluster): Promise<number> {
  const { nodes } = await cluster.status();
  const pid = nodes.find(({ role }) => role === "leader")?.pid;
  if (typeof pid !== "number") throw new Error("Nobody leads.");
  return pid;
}

async function measureKeepAlives(cluster: Cluster): Promise<void> {
  const share = await shareOfOneCore([await leaderPid(cluster)], windowS);
  tell({ figure: "keep-alives", sessions, ttlMs, watches: sessions, leaderPercentOfOneCore: round(share) });
}

/** One every few milliseconds, however long those before take. */
async function writeUntil(cluster: Cluster, isOver: () => boolean): Promise<{ atMs: number; ms: number }[]> {
  const puts: { atMs: number; ms: number }[] = [];
  const underWay: Promise<void>[] = [];
  for (let n = 0; !isOver(); n += 1) {
    const atMs = uptimeMs();
    const put = cluster.kv.put(`written/${n % 1_000}`, n).then(() => {
      puts.push({ atMs, ms: uptimeMs() - atMs });
    });
    underWay.push(put);
    await sleep(putEveryMs);
  }
  await Promise.all(underWay);
  return puts;
}

async function heldLeases(cluster: Cluster): Promise<number> {
  const digits = Array.from({ length: 10 }, (_, digit) => `held/${digit}`);
  const lists = await Promise.all(digits.map((prefix) => cluster.lease.list({ prefix, limit: 10_000 })));
  return lists.flat().filter(({ state }) => state === "held").length;
}

async function measureExpiry(cluster: Cluster, holders: ChildProcess): Promise<void> {
  const observers = startClients();
  await order(observers, { kind: "observe", count: sessions, step: lookedAtStep, clusters: 10 });
  const ended = told(observers, "ended");
  let isOver = false;
  const writing = writeUntil(cluster, () => isOver);
  const renewed = told(holders, "renewed");
  holders.send({ kind: "dieTogether", pauseMs: ttlMs / 4 } satisfies Order);
  const { untilMs } = await renewed;
  // Of a session's time to live, its leases' holders leave the last part unused, see leaseDeadline.ts.
  const unusedMs = 0.02 * ttlMs + 0.05 * ttlMs + 10;
  const dueMs = Object.values(untilMs).map((until) => until + unusedMs);
  const [firstDueMs, lastDueMs] = [Math.min(...dueMs), Math.max(...dueMs)];
  await sleep(lastDueMs + 1_000 - uptimeMs());
  const heldAfter1s = await heldLeases(cluster);
  const { atMs } = await ended;
  isOver = true;
  const puts = await writing;
  const endedMs = Math.max(...Object.values(atMs));
  const lateMs = Object.entries(atMs).map(([name, at]) => at - (untilMs[name] ?? Number.NaN) - unusedMs);
  const during = puts.filter(
    ({ atMs: at }) => at >= firstDueMs - 100 && at <= Math.min(endedMs + 100, lastDueMs + 1_000),
  );
  const silent = puts.filter(({ atMs: at }) => at >= lastDueMs - ttlMs + 1_000 && at < firstDueMs - 100);
  tell({
    figure: "expiry of all together",
    sessions,
    dueWithinMs: round(lastDueMs - firstDueMs),
    looked: { count: lateMs.length, late: shares(lateMs) },
    heldAfter1s,
    puts: { count: during.length, ...shares(during.map(({ ms }) => ms)) },
    putsBefore: { count: silent.length, ...shares(silent.map(({ ms }) => ms)) },
  });
  await order(observers, { kind: "close" });
}

const [a, b] = [
  connect({ endpoints, requestTimeoutMs: 30_000 }),
  connect({ endpoints, requestTimeoutMs: 30_000 }),
];
try {
  await a.kv.put("ready", true);
  await b.kv.get("ready");
  if (wants("handover")) {
    await measureHandover(a, b);
    await measureCrash(b);
  }
  if (wants("waiters")) await measureWaiters(a);
  if (wants("keepAlives") || wants("expiry")) {
    const holders = startClients();
    const beganMs = uptimeMs();
    await order(holders, {
      kind: "hold",
      count: sessions,
      clusters: clusterObjects,
      ttlMs,
      watches: true,
    });
    tell({ figure: "opening", sessions, seconds: round((uptimeMs() - beganMs) / 1_000) });
    if (wants("keepAlives")) await measureKeepAlives(a);
    await requireAllHeld(holders);
    if (wants("expiry")) await measureExpiry(a, holders);
    holders.kill("SIGKILL");
  }
} finally {
  await Promise.all([a.close(), b.close()]);
  await local.stop();
}
