/**
 * The clients of bench:leases, in a process of their own: told by messages what to do, and killed in the end.
 *
 * Each lease has a session of its own, since its time to live is another than that of its cluster object.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, connect, type Lease, type LeaseLostError } from "quorate";

export type Order =
  /** `count` leases over so many cluster objects; with `watches`, each with a watch of a key. */
  | {
      readonly kind: "hold";
      readonly count: number;
      readonly clusters: number;
      readonly ttlMs: number;
      readonly watches: boolean;
    }
  /** One more place in the queue of `name` for each, of as many sessions. */
  | {
      readonly kind: "wait";
      readonly name: string;
      readonly count: number;
      readonly clusters: number;
      readonly ttlMs: number;
    }
  /** Looks at each `step`th of the leases that are held from now on, and says when they are nobody's any more. */
  | { readonly kind: "observe"; readonly count: number; readonly step: number; readonly clusters: number }
  /** Stands still, so that all sessions are renewed together; says when that was; and is gone. */
  | { readonly kind: "dieTogether"; readonly pauseMs: number }
  /** Nothing, but the report. */
  | { readonly kind: "tell" }
  | { readonly kind: "close" };

export type Report =
  /** With the leases that were lost so far, by the reason that their holders were told. */
  | { readonly kind: "done"; readonly lost: Readonly<Record<string, number>> }
  /** Until when the holder of each believes in it, by its name, as the machine's uptime. */
  | { readonly kind: "renewed"; readonly untilMs: Readonly<Record<string, number>> }
  /** When each was seen to be nobody's any more, since `observe`, by its name, as the machine's uptime. */
  | { readonly kind: "ended"; readonly atMs: Readonly<Record<string, number>> };

/** All that begin with one digit fit into one list. */
function heldName(n: number): string {
  return `held/${String(n).padStart(5, "0")}`;
}

const endpoints = process.argv.slice(2);
const clusters: Cluster[] = [];
const leases: Lease[] = [];
const endedMs: Record<string, number> = {};
const lost: Record<string, number> = {};
/** Time of this machine, which other processes count alike. */
const uptimeMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const report = (told: Report): Promise<void> =>
  new Promise((resolve) => process.send?.(told, undefined, undefined, () => resolve()));

function open(count: number): Cluster[] {
  // Its own session has another time to live than the leases are asked for, which so have one of their own each.
  const made = Array.from({ length: count }, () =>
    connect({ endpoints, sessionTtlMs: 600_000, requestTimeoutMs: 60_000 }),
  );
  clusters.push(...made);
  return made;
}

/** So many at once: the cluster is to be filled soon, not to be tried. */
async function each(count: number, underWay: number, act: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: underWay }, worker));
}

async function hold(order: Extract<Order, { kind: "hold" }>): Promise<void> {
  const made = open(order.clusters);
  await each(order.count, 1_024, async (n) => {
    const cluster = made[n % made.length] as Cluster;
    const lease = await cluster.lease.acquire(heldName(n), { ttlMs: order.ttlMs });
    lease.signal.addEventListener("abort", () => {
      const { reason } = lease.signal.reason as LeaseLostError;
      lost[reason] = (lost[reason] ?? 0) + 1;
    });
    leases.push(lease);
    if (!order.watches) return;
    const watch = cluster.kv.watch(`watched/${n}`);
    await watch.started();
  });
}

async function wait(order: Extract<Order, { kind: "wait" }>): Promise<void> {
  const made = open(order.clusters);
  for (let n = 0; n < order.count; n += 1) {
    const cluster = made[n % made.length] as Cluster;
    cluster.lease
      .acquire(order.name, { ttlMs: order.ttlMs })
      .then((lease) => {
        leases.push(lease);
        return lease.release();
      })
      .catch((error: unknown) => {
        if (leases.length < order.count) console.error("A waiter was turned away:", error);
      });
  }
  const [cluster] = made as [Cluster];
  while ((await cluster.lease.get(order.name)).waiting < order.count) await sleep(50);
}

async function observe(order: Extract<Order, { kind: "observe" }>): Promise<void> {
  const made = open(order.clusters);
  const looked = Math.ceil(order.count / order.step);
  const begun = Array.from({ length: looked }, async (_, n) => {
    const name = heldName(n * order.step);
    const seen = (made[n % made.length] as Cluster).lease.watch(name)[Symbol.asyncIterator]();
    const first = await seen.next();
    if (first.value?.state !== "held") throw new Error(`${name} is ${first.value?.state} to begin with.`);
    void (async () => {
      for (;;) {
        const next = await seen.next();
        if (next.done === true || next.value.state === "held") continue;
        endedMs[name] = uptimeMs();
        if (Object.keys(endedMs).length === looked) await report({ kind: "ended", atMs: endedMs });
        await seen.return?.(undefined);
        return;
      }
    })();
  });
  await Promise.all(begun);
}

/** When the renewal was sent that its deadline counts from. */
function renewedMs(lease: Lease): number {
  return uptimeMs() + lease.remainingMs();
}

async function dieTogether(pauseMs: number): Promise<void> {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  // All renewals that were due meanwhile go out now. The deadline of each lease tells when its last one was sent.
  const before = leases.map(renewedMs);
  while (leases.some((lease, n) => renewedMs(lease) - (before[n] as number) < pauseMs / 2)) await sleep(10);
  const after = leases.map(renewedMs);
  const untilMs = Object.fromEntries(leases.map(({ name }, n) => [name, after[n] as number]));
  await report({ kind: "renewed", untilMs });
  process.kill(process.pid, "SIGKILL");
}

async function obey(order: Order): Promise<void> {
  switch (order.kind) {
    case "hold":
      return hold(order);
    case "wait":
      return wait(order);
    case "observe":
      return observe(order);
    case "dieTogether":
      return dieTogether(order.pauseMs);
    case "tell":
      return;
    case "close":
      await Promise.all(clusters.map((cluster) => cluster.close()));
  }
}

/** Whoever gave the orders is gone. */
process.on("disconnect", () => process.exit());

process.on("message", (message) => {
  const order = message as Order;
  void obey(order).then(async () => {
    await report({ kind: "done", lost });
    if (order.kind === "close") process.disconnect();
  });
});
