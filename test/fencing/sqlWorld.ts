/** A database as the histories of fenced transactions need it: connections, and a look at who waits for a lock. */
import type { SqlConnection, SqlDialect } from "@quorate/client/fencing/sql";

export interface Row {
  readonly [column: string]: unknown;
}

export interface OpenConnection extends SqlConnection {
  query(text: string, params?: unknown[]): Promise<unknown>;
  /** The rows of one statement, whatever shape the driver gives them. */
  rows(text: string): Promise<readonly Row[]>;
  /** Whether a statement of this connection waits for a lock that another has. */
  isWaiting(): Promise<boolean>;
  close(): Promise<void>;
}

export interface SqlWorld {
  readonly dialect: SqlDialect;
  connect(): Promise<OpenConnection>;
}

/** What a work writes: the ids rise in the order of the writes, for these happen under the guard's lock. */
export const ledger: Readonly<Record<SqlDialect, string>> = {
  postgresql: "CREATE TABLE IF NOT EXISTS ledger (id bigserial PRIMARY KEY, term bigint NOT NULL)",
  mysql:
    "CREATE TABLE IF NOT EXISTS ledger (id BIGINT AUTO_INCREMENT PRIMARY KEY, term BIGINT NOT NULL) ENGINE = InnoDB",
  sqlite: "CREATE TABLE IF NOT EXISTS ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, term INTEGER NOT NULL)",
};

export async function ledgerTerms(connection: OpenConnection): Promise<number[]> {
  return (await connection.rows("SELECT term FROM ledger ORDER BY id")).map(({ term }) => Number(term));
}

export async function writeLedger(connection: SqlConnection, term: number): Promise<void> {
  await connection.query(`INSERT INTO ledger (term) VALUES (${term})`, []);
}

/** Both tables, empty. */
export async function freshTables(world: SqlWorld, connection: OpenConnection, guard: string): Promise<void> {
  await connection.query(ledger[world.dialect]);
  await connection.query(guard);
  await connection.query("DELETE FROM ledger");
  await connection.query("DELETE FROM quorate_fence");
}
