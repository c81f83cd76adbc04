/**
 * What the guard row has to do on a database server with many connections, the same for each: tried in every order of
 * two transactions, at every isolation level, with many holders at once, and with one that froze.
 */
import { type SqlFence, StaleTermError, sqlFence } from "@quorate/client/fencing/sql";
import { expect, it } from "vitest";
import { allOrders, type Case, expectedVerdicts, play } from "../fencing/interleavings.ts";
import { actAtRandom, complaints } from "../fencing/randomActs.ts";
import {
  freshTables,
  ledgerTerms,
  type OpenConnection,
  type SqlWorld,
  writeLedger,
} from "../fencing/sqlWorld.ts";
import { within } from "../process/rig/waiting.ts";

export interface ServerUnderTest {
  readonly world: SqlWorld;
  readonly connections: readonly OpenConnection[];
}

export interface Server {
  readonly start: () => ServerUnderTest;
  /** Whether an error of the database means: the whole transaction again. */
  readonly isRetryable: (error: unknown) => boolean;
  /** What the database says when the guard has waited for too long. */
  readonly lockTimedOut: RegExp;
}

type Pair = [OpenConnection, OpenConnection];

export function guardCases(fence: SqlFence, server: Server): void {
  const pair = (): Pair => server.start().connections.slice(0, 2) as Pair;
  orderCases(fence, server, pair);
  manyHolders(fence, server);
  frozenHolder(fence, server);
  staleSnapshot(fence, server, pair);
  severalResources(fence, server, pair);
  lockTimeout(fence, server, pair);
}

function orderCases(fence: SqlFence, { start }: Server, pair: () => Pair): void {
  it.each<[string, Omit<Case, "terms">]>([
    ["there is no row yet", { before: undefined, newerEnds: "COMMIT" }],
    ["an older term has acted before", { before: 5, newerEnds: "COMMIT" }],
    ["the old term itself has acted before", { before: 7, newerEnds: "COMMIT" }],
    ["there is no row yet and the newer one rolls back", { before: undefined, newerEnds: "ROLLBACK" }],
    ["the old term has acted before and the newer one rolls back", { before: 7, newerEnds: "ROLLBACK" }],
  ])(
    "in every order of two transactions, where %s, whoever guards first is first",
    async (_title, setting) => {
      let waits = 0;
      for (const order of allOrders()) {
        const result = await play(start().world, fence, pair(), { order, terms: [7, 9], ...setting });
        const told = `${order.join("")}: ${JSON.stringify(result)}`;
        expect(result.verdicts, told).toEqual(expectedVerdicts(order, setting.newerEnds));
        expect(result.ledger, told).toEqual([...result.ledger].sort((a, b) => a - b));
        waits += result.waited.length;
      }
      // Wherever the two overlap, one waits: the lock is held to the end.
      expect(waits).toBeGreaterThan(30);
    },
  );

  it.each(["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])(
    "at %s, no order lets an old term write after a newer",
    async (level) => {
      const seen = new Set<string>();
      for (const before of [undefined, 7]) {
        for (const order of allOrders()) {
          const setting = { order, before, terms: [7, 9], newerEnds: "COMMIT", level } as const;
          const result = await play(start().world, fence, pair(), setting);
          expect(result.ledger, JSON.stringify(result)).toEqual([...result.ledger].sort((a, b) => a - b));
          seen.add(result.verdicts.join());
        }
      }
      expect([...seen]).toContain("committed,committed");
      expect([...seen]).toContain("refused,committed");
    },
  );
}

function manyHolders(fence: SqlFence, { start, isRetryable }: Server): void {
  it.each([1, 2, 3, 4])("with eight holders at once, no term writes after a newer: seed %i", async (seed) => {
    const { world, connections } = start();
    const report = await actAtRandom(world, fence, connections, { seed, acts: 25, isRetryable });
    expect(complaints(report)).toEqual([]);
    expect(report.refused).toBeGreaterThan(20);
    expect(report.committed.length).toBeGreaterThan(20);
  });
}

function frozenHolder(fence: SqlFence, { start }: Server): void {
  it("a holder that froze in its transaction is ended by the database, and what it wrote with it", async () => {
    const { world, connections } = start();
    const [frozen, next] = connections as [OpenConnection, OpenConnection];
    const extra = await world.connect();
    await freshTables(world, next, fence.createTable);
    const impatient = sqlFence(fence.dialect, { idleTimeoutMs: 1_000 });
    let wakeUp = (): void => {};
    const sleeps = new Promise<void>((resolve) => {
      wakeUp = resolve;
    });
    let locked = (): void => {};
    const hasLock = new Promise<void>((resolve) => {
      locked = resolve;
    });
    const old = impatient.transaction(extra, { resource: "billing", term: 7 }, async () => {
      await writeLedger(extra, 7);
      locked();
      await sleeps;
      await writeLedger(extra, 7);
    });
    const oldEnded = old.catch((error: unknown) => error);
    await hasLock;
    const newer = fence.transaction(next, { resource: "billing", term: 9 }, () => writeLedger(next, 9));
    await within("the newer term's act", newer, 6_000);
    wakeUp();
    expect(await oldEnded).toBeInstanceOf(Error);
    expect(await ledgerTerms(next)).toEqual([9]);
    const again = fence.transaction(frozen, { resource: "billing", term: 7 });
    await expect(again).rejects.toBeInstanceOf(StaleTermError);
    await extra.close().catch(() => {});
  });
}

function staleSnapshot(fence: SqlFence, { start, isRetryable }: Server, pair: () => Pair): void {
  it("is not deceived by a snapshot that the transaction has read from before", async () => {
    const [old, newer] = pair();
    await freshTables(start().world, old, fence.createTable);
    await fence.transaction(old, { resource: "billing", term: 7 });
    await old.query("START TRANSACTION");
    if (fence.dialect === "postgresql") await old.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    await old.rows("SELECT term FROM quorate_fence");
    await fence.transaction(newer, { resource: "billing", term: 9 });
    const guarded = fence.guard(old, { resource: "billing", term: 7 }).catch((error: unknown) => error);
    const refusal = await guarded;
    await old.query("ROLLBACK");
    // PostgreSQL ends such a transaction by an error of its own, MariaDB shows the row as it is now.
    expect(refusal instanceof StaleTermError || isRetryable(refusal), String(refusal)).toBe(true);
  });
}

function severalResources(fence: SqlFence, { start }: Server, pair: () => Pair): void {
  it("guards several resources in one transaction, and refuses it for any of them", async () => {
    const [connection] = pair();
    await freshTables(start().world, connection, fence.createTable);
    const both = (orders: number, invoices: number): Promise<void> =>
      fence.transaction(connection, { resource: "invoices", term: invoices }, async () => {
        await fence.guard(connection, { resource: "orders", term: orders });
        await writeLedger(connection, invoices);
      });
    await both(3, 7);
    await both(4, 7);
    await expect(both(3, 8)).rejects.toMatchObject({ code: "STALE_TERM", resource: "orders", highest: 4 });
    // Rolled back as a whole: term 8 of the invoices never acted.
    await both(4, 7);
    expect(await ledgerTerms(connection)).toEqual([7, 7, 7]);
  });
}

function lockTimeout(fence: SqlFence, { start, lockTimedOut }: Server, pair: () => Pair): void {
  it("waits for another holder no longer than lockTimeoutMs, and then has written nothing", async () => {
    const [holder, other] = pair();
    await freshTables(start().world, holder, fence.createTable);
    const impatient = sqlFence(fence.dialect, { lockTimeoutMs: 300 });
    await fence.transaction(holder, { resource: "billing", term: 7 }, async () => {
      const waiting = impatient.transaction(other, { resource: "billing", term: 9 }, () =>
        writeLedger(other, 9),
      );
      await expect(waiting).rejects.toThrow(lockTimedOut);
      await writeLedger(holder, 7);
    });
    expect(await ledgerTerms(holder)).toEqual([7]);
  });
}
