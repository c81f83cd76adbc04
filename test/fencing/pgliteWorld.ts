/** PostgreSQL itself, in this process: one connection, so that nobody ever waits. */
import { PGlite } from "@electric-sql/pglite";
import type { OpenConnection, Row, SqlWorld } from "./sqlWorld.ts";

export interface PGliteWorld extends SqlWorld, AsyncDisposable {}

export async function pgliteWorld(): Promise<PGliteWorld> {
  const database = await PGlite.create();
  const connection: OpenConnection = {
    query: (text, params = []) => database.query(text, params),
    rows: async (text) => (await database.query<Row>(text)).rows,
    isWaiting: async () => false,
    close: async () => {},
  };
  return {
    dialect: "postgresql",
    connect: async () => connection,
    [Symbol.asyncDispose]: () => database.close(),
  };
}
