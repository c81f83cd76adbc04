/**
 * What drivers answer, as rows: pg and PGlite `{ rows }`, mysql2 `[rows, fields]`, mariadb and SQLite's drivers the
 * rows themselves. An answer that cannot be read is an error and never a consent.
 */
import { QuorateError } from "@quorate/raft";
import type { SqlStatement } from "./dialects.ts";

/**
 * One connection, not a pool: a transaction is a thing of one connection. pg's `Client` and `PoolClient`, PGlite and
 * its transactions, and mysql2's promise connections fit as they are.
 */
export interface SqlConnection {
  // Method syntax, since drivers narrow the parameters.
  query(text: string, params: unknown[]): unknown;
}

type Row = Readonly<Record<string, unknown>>;

/** Runs one statement and gives the driver's answer. */
export async function ask(connection: SqlConnection, { text, params }: SqlStatement): Promise<unknown> {
  return await connection.query(text, [...params]);
}

/** A query of a pool may run on any connection, so that the guard would lock for one and the work run on another. */
export function requireConnection(connection: SqlConnection): void {
  const { query, getConnection, totalCount } = connection as SqlConnection & Row;
  if (typeof query !== "function") {
    throw new QuorateError("INVALID_ARGUMENT", "The connection has no query(text, params).");
  }
  if (typeof getConnection !== "function" && typeof totalCount !== "number") return;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    "This is a pool, and a transaction needs one connection: take one with connect() or getConnection(), and release it.",
  );
}

/** The column `term` of the one row of the answer; undefined where it has no row. Several rows are refused. */
export function termIn(answer: unknown): number | undefined {
  const rows = rowsOf(answer);
  if (rows.length === 0) return undefined;
  const { term } = rows[0] as Row;
  // Drivers give a bigint as text or as `bigint`, for most cannot know that this one is below 2^53.
  const isNumeric = typeof term === "number" || typeof term === "bigint" || /^\d{1,16}$/.test(String(term));
  const value = isNumeric ? Number(term) : Number.NaN;
  if (rows.length === 1 && Number.isSafeInteger(value) && value >= 0) return value;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `The database answered ${rows.length} rows with the term ${String(term)}, where one row with an integer from 0 to ` +
      "2^53 - 1 belongs. Is the column a bigint that is never null, the key unique, and do rows come as objects?",
    { outcome: "unknown" },
  );
}

/** Rows that a write changed or, by the connection's flags, found. 0 where the driver does not say. */
export function affectedRows(answer: unknown): number {
  const header: unknown = Array.isArray(answer) ? answer[0] : answer;
  const count = isRecord(header) ? header.affectedRows : undefined;
  return typeof count === "number" ? count : Number(typeof count === "bigint" ? count : 0);
}

function rowsOf(answer: unknown): readonly unknown[] {
  if (isRecord(answer)) return Array.isArray(answer.rows) ? answer.rows : [];
  if (!Array.isArray(answer)) return [];
  const [first] = answer as unknown[];
  if (Array.isArray(first)) return first;
  // mysql2's answer to a statement without rows: [header, undefined].
  return isRecord(first) && "affectedRows" in first ? [] : answer;
}

function isRecord(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
