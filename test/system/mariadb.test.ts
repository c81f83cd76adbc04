/** The guard row and the row fence on Debian's MariaDB, through the driver mysql2. */
import { type SqlFence, sqlFence } from "@quorate/client/fencing/sql";
import { createPool } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowFenceCases } from "../fencing/rowFenceCases.ts";
import type { OpenConnection } from "../fencing/sqlWorld.ts";
import { type DatabaseServer, startMariadb } from "./databaseServers.ts";
import { whatIsMissing } from "./requirements.ts";
import { guardCases } from "./sqlFenceCases.ts";

const fence: SqlFence = sqlFence("mysql");
const missing: string | undefined = whatIsMissing(["mariadbd"], false);

describe.runIf(missing === undefined)("on MariaDB", () => {
  let server: DatabaseServer;
  let connections: OpenConnection[];

  beforeAll(async () => {
    server = await startMariadb();
    connections = await Promise.all(Array.from({ length: 8 }, () => server.connect()));
  });

  afterAll(async () => {
    for (const connection of connections) await connection.close();
    await server[Symbol.asyncDispose]();
  });

  describe("the guard row", () => {
    guardCases(fence, {
      start: () => ({ world: server, connections }),
      isRetryable: (error) => (error as { code?: string }).code === "ER_LOCK_DEADLOCK",
      lockTimedOut: /Lock wait timeout/,
    });

    it("refuses a pool, whose queries may run on any connection", async () => {
      const pool = createPool({ host: "127.0.0.1" });
      await expect(fence.guard(pool, { resource: "billing", term: 1 })).rejects.toThrow(/pool/);
      await pool.end();
    });

    it("keeps names apart that a collation takes for one", async () => {
      const [connection] = connections as [OpenConnection];
      await connection.query(fence.createTable);
      await fence.transaction(connection, { resource: "case", term: 9 });
      await fence.transaction(connection, { resource: "CASE", term: 1 });
      await fence.transaction(connection, { resource: "case ", term: 1 });
    });

    it("refuses to guard outside a transaction, where the lock would be gone at once", async () => {
      const [connection] = connections as [OpenConnection];
      await expect(fence.guard(connection, { resource: "outside", term: 1 })).rejects.toThrow(/SAVEPOINT/);
    });

    it("notices a statement on a schema, which commits in passing", async () => {
      const [connection] = connections as [OpenConnection];
      const early = fence.transaction(connection, { resource: "schema", term: 1 }, async () => {
        await connection.query("CREATE TABLE IF NOT EXISTS passing (id INT)");
      });
      await expect(early).rejects.toMatchObject({ outcome: "unknown" });
    });

    it("leaves no timeout behind on the connection, also after a refusal", async () => {
      const [connection] = connections as [OpenConnection];
      const timeouts = "SELECT @@SESSION.innodb_lock_wait_timeout AS wait, @@SESSION.wait_timeout AS idle";
      const before = await connection.rows(timeouts);
      await fence.transaction(connection, { resource: "timeouts", term: 2 }, async () => {
        expect(await connection.rows(timeouts)).toEqual([{ wait: 5, idle: 10 }]);
      });
      await expect(fence.transaction(connection, { resource: "timeouts", term: 1 })).rejects.toThrow(
        /term 2/,
      );
      expect(await connection.rows(timeouts)).toEqual(before);
    });
  });

  describe("the row fence", () => {
    rowFenceCases(fence, () => connections[0] as OpenConnection);
  });
});

describe("MariaDB", () => {
  it("is there", ({ skip }) => {
    if (missing !== undefined) skip(missing);
  });
});
