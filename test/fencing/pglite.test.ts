/** The guard row and the row fence on PGlite: PostgreSQL's own code, one connection. */
import { type SqlFence, StaleTermError, sqlFence } from "@quorate/client/fencing/sql";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type PGliteWorld, pgliteWorld } from "./pgliteWorld.ts";
import { actAtRandom, complaints } from "./randomActs.ts";
import { rowFenceCases } from "./rowFenceCases.ts";
import { freshTables, ledgerTerms, type OpenConnection, writeLedger } from "./sqlWorld.ts";

const fence: SqlFence = sqlFence("postgresql");
let world: PGliteWorld;
let connection: OpenConnection;

beforeAll(async () => {
  world = await pgliteWorld();
  connection = await world.connect();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await freshTables(world, connection, fence.createTable);
});

async function act(term: number): Promise<void> {
  await fence.transaction(connection, { resource: "billing", term }, () => writeLedger(connection, term));
}

describe("the guard row on PGlite", () => {
  it("lets a term act, act again, and a newer one after it; then refuses the old one with its number", async () => {
    await act(7);
    await act(7);
    await act(9);
    const refusal = await act(7).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StaleTermError);
    expect(refusal).toMatchObject({ code: "STALE_TERM", term: 7, highest: 9, resource: "billing" });
    expect(refusal).toMatchObject({ retryable: false, outcome: "none" });
    expect(await ledgerTerms(connection)).toEqual([7, 7, 9]);
  });

  it("keeps resources apart", async () => {
    await fence.transaction(connection, { resource: "billing", term: 9 });
    await fence.transaction(connection, { resource: "Billing", term: 1 });
    await expect(fence.transaction(connection, { resource: "billing", term: 8 })).rejects.toThrow(/term 9/);
  });

  it("takes the largest term there can be", async () => {
    await act(Number.MAX_SAFE_INTEGER);
    await expect(act(Number.MAX_SAFE_INTEGER - 1)).rejects.toBeInstanceOf(StaleTermError);
  });

  it("gives the work's result, and rolls back with the work's own error", async () => {
    const named = { resource: "billing", term: 3 };
    expect(await fence.transaction(connection, named, () => "done")).toBe("done");
    const failing = fence.transaction(connection, { ...named, term: 5 }, async () => {
      await writeLedger(connection, 5);
      throw new Error("the work's own");
    });
    await expect(failing).rejects.toThrow("the work's own");
    expect(await ledgerTerms(connection)).toEqual([]);
    // The newer term never acted, so the older one still may.
    await act(4);
  });

  it("notices work that ended the guard's transaction, and says that the outcome is unknown", async () => {
    const early = fence.transaction(connection, { resource: "billing", term: 3 }, async () => {
      await connection.query("COMMIT");
      await writeLedger(connection, 3);
    });
    await expect(early).rejects.toMatchObject({ code: "INVALID_ARGUMENT", outcome: "unknown" });
  });

  it("notices work that kept an error of the database to itself, where COMMIT would roll back in silence", async () => {
    const silent = fence.transaction(connection, { resource: "billing", term: 3 }, async () => {
      await writeLedger(connection, 3);
      await connection.query("SELECT 1 / 0").catch(() => {});
    });
    await expect(silent).rejects.toMatchObject({ outcome: "unknown" });
    expect(await ledgerTerms(connection)).toEqual([]);
  });

  it("guards a transaction that was opened by others, and refuses to guard where there is none", async () => {
    await connection.query("BEGIN");
    await fence.guard(connection, { resource: "billing", term: 3 });
    await writeLedger(connection, 3);
    await connection.query("COMMIT");
    expect(await ledgerTerms(connection)).toEqual([3]);
    await expect(fence.guard(connection, { resource: "billing", term: 4 })).rejects.toThrow(
      /transaction block/,
    );
    await act(3);
  });

  it.each([1, 2, 3])(
    "never lets an older term write after a newer one: random acts, seed %i",
    async (seed) => {
      const report = await actAtRandom(world, fence, [connection], {
        seed,
        acts: 60,
        isRetryable: () => false,
      });
      expect(complaints(report)).toEqual([]);
      expect(report.committed.length).toBeGreaterThan(10);
    },
  );
});

describe("the row fence on PGlite", () => {
  rowFenceCases(fence, () => connection);
});
