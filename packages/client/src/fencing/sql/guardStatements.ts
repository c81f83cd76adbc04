/**
 * The guard row: one row for each resource, which holds the highest term that ever acted on it. A transaction's first
 * statement raises it to its own term, or finds a newer one and is refused; either way the row stays locked to the end
 * of the transaction, so that no newer term acts between the check and the commit. Builds statements, runs none.
 */
import type { FencedAct } from "../fencedAct.ts";
import { placeholder, type SqlDialect, type SqlStatement, unknownDialect } from "./dialects.ts";

export interface GuardStatements {
  /** Raises the row to this term unless it holds a newer one, and locks it. */
  readonly claim: SqlStatement;
  /** Asks which term the row holds, as column `term`. */
  readonly look: SqlStatement;
  /**
   * `claim`: it answers with the row where it was granted, and with none where it was refused.
   * `look`: it answers with no row ever, and its affected rows tell a repeated term and a refused one alike.
   */
  readonly judgedBy: "claim" | "look";
}

/** `table` is quoted already. */
export function createTable(dialect: SqlDialect, table: string): string {
  switch (dialect) {
    case "postgresql":
      return `CREATE TABLE IF NOT EXISTS ${table} (resource text PRIMARY KEY, term bigint NOT NULL CHECK (term >= 1))`;
    case "mysql":
      // VARBINARY, for a collation would take two names for one; InnoDB, for other engines lock no row.
      return (
        `CREATE TABLE IF NOT EXISTS ${table} (resource VARBINARY(255) NOT NULL PRIMARY KEY, ` +
        "term BIGINT NOT NULL CHECK (term >= 1)) ENGINE = InnoDB"
      );
    case "sqlite":
      return `CREATE TABLE IF NOT EXISTS ${table} (resource TEXT NOT NULL PRIMARY KEY, term INTEGER NOT NULL CHECK (term >= 1))`;
    default:
      return unknownDialect(dialect);
  }
}

/** `table` is quoted already. */
export function guardStatements(dialect: SqlDialect, table: string, act: FencedAct): GuardStatements {
  return dialect === "mysql" ? mysqlGuard(table, act) : returningGuard(dialect, table, act);
}

/**
 * PostgreSQL waits for whoever has the row, tests `WHERE` on the row as it was then committed, and locks it also where
 * the test fails. At REPEATABLE READ and above it may end with a serialization failure (40001) instead of an answer,
 * which refuses as well. SQLite has one writer at a time.
 */
function returningGuard(dialect: SqlDialect, table: string, { resource, term }: FencedAct): GuardStatements {
  const [first, second] = [placeholder(dialect, 1), placeholder(dialect, 2)];
  return {
    claim: {
      text:
        `INSERT INTO ${table} AS fence (resource, term) VALUES (${first}, ${second}) ` +
        "ON CONFLICT (resource) DO UPDATE SET term = excluded.term WHERE fence.term <= excluded.term RETURNING term",
      params: [resource, term],
    },
    look: { text: `SELECT term FROM ${table} WHERE resource = ${first}`, params: [resource] },
    judgedBy: "claim",
  };
}

/**
 * MySQL has neither `RETURNING` nor a condition on its upsert, and the affected rows of one that changes nothing are 0
 * or 1 by a flag of the connection. So the upsert takes the greater term and locks the row, and a locking read tells
 * which it is: it sees what is committed now, where a plain one would see the snapshot of an earlier read.
 */
function mysqlGuard(table: string, { resource, term }: FencedAct): GuardStatements {
  return {
    claim: {
      text: `INSERT INTO ${table} (resource, term) VALUES (?, ?) ON DUPLICATE KEY UPDATE term = GREATEST(term, ?)`,
      params: [resource, term, term],
    },
    look: { text: `SELECT term FROM ${table} WHERE resource = ? FOR UPDATE`, params: [resource] },
    judgedBy: "look",
  };
}
