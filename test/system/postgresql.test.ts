/** The guard row and the row fence on Debian's PostgreSQL, through the driver pg. */
import { type SqlFence, sqlFence } from "@quorate/client/fencing/sql";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowFenceCases } from "../fencing/rowFenceCases.ts";
import type { OpenConnection } from "../fencing/sqlWorld.ts";
import { type DatabaseServer, postgresqlIsMissing, startPostgresql } from "./databaseServers.ts";
import { guardCases } from "./sqlFenceCases.ts";

const fence: SqlFence = sqlFence("postgresql");

describe.runIf(postgresqlIsMissing === undefined)("on PostgreSQL", () => {
  let server: DatabaseServer;
  let connections: OpenConnection[];

  beforeAll(async () => {
    server = await startPostgresql();
    connections = await Promise.all(Array.from({ length: 8 }, () => server.connect()));
  });

  afterAll(async () => {
    for (const connection of connections) await connection.close();
    await server[Symbol.asyncDispose]();
  });

  describe("the guard row", () => {
    guardCases(fence, {
      start: () => ({ world: server, connections }),
      isRetryable: (error) => /40001|40P01/.test((error as { code?: string }).code ?? ""),
      lockTimedOut: /lock timeout/,
    });

    it("refuses a pool, whose queries may run on any connection", async () => {
      await expect(fence.guard(new Pool(), { resource: "billing", term: 1 })).rejects.toThrow(/pool/);
    });

    it("leaves no timeout behind on the connection", async () => {
      const [connection] = connections as [OpenConnection];
      await fence.transaction(connection, { resource: "other", term: 1 });
      expect(await connection.rows("SHOW lock_timeout")).toEqual([{ lock_timeout: "0" }]);
      const idle = await connection.rows("SHOW idle_in_transaction_session_timeout");
      expect(idle).toEqual([{ idle_in_transaction_session_timeout: "0" }]);
    });
  });

  describe("the row fence", () => {
    rowFenceCases(fence, () => connections[0] as OpenConnection);
  });
});

describe("PostgreSQL", () => {
  it("is there", ({ skip }) => {
    if (postgresqlIsMissing !== undefined) skip(postgresqlIsMissing);
  });
});
