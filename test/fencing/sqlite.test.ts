/** The guard row and the row fence on SQLite: two connections to one file, in every order of their steps. */
import { type SqlFence, StaleTermError, sqlFence } from "@quorate/client/fencing/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allOrders, play } from "./interleavings.ts";
import { actAtRandom, complaints } from "./randomActs.ts";
import { rowFenceCases } from "./rowFenceCases.ts";
import { isBusy, type SqliteWorld, sqliteWorld } from "./sqliteWorld.ts";
import { freshTables, ledgerTerms, type OpenConnection, writeLedger } from "./sqlWorld.ts";

const fence: SqlFence = sqlFence("sqlite");
let world: SqliteWorld;
let connections: [OpenConnection, OpenConnection];

beforeAll(async () => {
  world = sqliteWorld();
  connections = [await world.connect(), await world.connect()];
});

afterAll(() => world[Symbol.dispose]());

describe("the guard row on SQLite", () => {
  it("refuses an older term after a newer one's first act, and nothing else", async () => {
    const [mine, other] = connections;
    await freshTables(world, mine, fence.createTable);
    const act = (connection: OpenConnection, term: number): Promise<void> =>
      fence.transaction(connection, { resource: "billing", term }, () => writeLedger(connection, term));
    await act(mine, 7);
    await act(other, 9);
    await expect(act(mine, 7)).rejects.toMatchObject({ code: "STALE_TERM", term: 7, highest: 9 });
    await act(other, 9);
    expect(await ledgerTerms(mine)).toEqual([7, 9, 9]);
    expect(await mine.rows("SELECT typeof(term) AS kind FROM quorate_fence")).toEqual([{ kind: "integer" }]);
  });

  it("in every order of two transactions: one at a time, and never an old one after a newer", async () => {
    const seen = new Set<string>();
    for (const order of allOrders()) {
      for (const before of [undefined, 5]) {
        const result = await play(world, fence, connections, {
          order,
          before,
          terms: [7, 9],
          newerEnds: "COMMIT",
        });
        const told = `${order.join("")}: ${JSON.stringify(result)}`;
        expect(result.ledger, told).toEqual([...result.ledger].sort((a, b) => a - b));
        const committed = result.verdicts.flatMap((verdict, who) =>
          verdict === "committed" ? [[7, 9][who]] : [],
        );
        expect([...result.ledger], told).toEqual(committed);
        seen.add(result.verdicts.join());
      }
    }
    // Busy counts as failed: SQLite lets nobody wait here.
    expect([...seen].sort()).toEqual([
      "committed,committed",
      "committed,failed",
      "failed,committed",
      "refused,committed",
    ]);
  });

  it.each([1, 2, 3])(
    "never lets an older term write after a newer one: random acts, seed %i",
    async (seed) => {
      const report = await actAtRandom(world, fence, connections, { seed, acts: 40, isRetryable: isBusy });
      expect(complaints(report)).toEqual([]);
      expect(report.refused).toBeGreaterThan(5);
    },
  );

  it("guards several resources in one transaction, and refuses it for any of them", async () => {
    const [connection] = connections;
    await freshTables(world, connection, fence.createTable);
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

  it("notices work that ended the guard's transaction", async () => {
    const [mine] = connections;
    const early = fence.transaction(mine, { resource: "early", term: 3 }, () => mine.query("COMMIT"));
    await expect(early).rejects.toMatchObject({ outcome: "unknown" });
    await expect(fence.transaction(mine, { resource: "early", term: 2 })).rejects.toBeInstanceOf(
      StaleTermError,
    );
  });

  it("has one transaction at a time on a connection, and leaves the first one whole", async () => {
    const [mine] = connections;
    await freshTables(world, mine, fence.createTable);
    const first = fence.transaction(mine, { resource: "busy", term: 3 }, () => writeLedger(mine, 3));
    const second = fence.transaction(mine, { resource: "busy", term: 4 }, () => writeLedger(mine, 4));
    await expect(second).rejects.toMatchObject({ code: "INVALID_ARGUMENT", outcome: "none" });
    await first;
    const within = fence.transaction(mine, { resource: "busy", term: 5 }, () =>
      fence.transaction(mine, { resource: "other", term: 1 }),
    );
    await expect(within).rejects.toThrow(/has a guarded transaction under way/);
    expect(await ledgerTerms(mine)).toEqual([3]);
  });

  it("does not roll back a transaction that was open before", async () => {
    const [mine] = connections;
    await freshTables(world, mine, fence.createTable);
    await mine.query("BEGIN IMMEDIATE", []);
    await writeLedger(mine, 1);
    await expect(fence.transaction(mine, { resource: "open", term: 2 })).rejects.toThrow(
      /within a transaction/,
    );
    await mine.query("COMMIT", []);
    expect(await ledgerTerms(mine)).toEqual([1]);
  });

  it("guards inside a transaction alone, as the other databases do", async () => {
    const [mine] = connections;
    const guard = fence.guard(mine, { resource: "outside", term: 3 });
    await expect(guard).rejects.toThrow(/outside of a transaction/);
    await mine.query("BEGIN IMMEDIATE", []);
    await fence.guard(mine, { resource: "outside", term: 1 });
    await mine.query("ROLLBACK", []);
    expect(await mine.rows("SELECT * FROM quorate_fence WHERE resource = 'outside'")).toEqual([]);
  });
});

describe("the row fence on SQLite", () => {
  rowFenceCases(fence, () => connections[0]);
});
