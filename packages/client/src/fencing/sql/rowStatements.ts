/**
 * The row fence: a column that holds the term of the last writer, compared in the very statement that writes. Needs no
 * transaction, and protects the row alone: an old holder may still write rows that no newer one has touched. Builds
 * statements, runs none.
 */
import { QuorateError } from "@quorate/raft";
import { requireTerm } from "../fencedAct.ts";
import { placeholder, quotedName, type SqlDialect, type SqlStatement } from "./dialects.ts";

export interface RowUpdate {
  readonly table: string;
  /** The columns that say which row, a unique key, with their values; null is refused, for it equals nothing. */
  readonly key: Readonly<Record<string, unknown>>;
  /** The columns to write. May be empty: then only the fence is raised. */
  readonly set: Readonly<Record<string, unknown>>;
  /** The lease's term. */
  readonly term: number;
  /** The column of the fence, `bigint NOT NULL DEFAULT 0`. Default `fence`. */
  readonly fence?: string;
}

export interface RowUpdateStatements {
  /** Writes the row unless its fence is newer. */
  readonly write: SqlStatement;
  /** Asks for the row's fence, as column `term`: no row, a newer term, or in MySQL a row that was so already. */
  readonly look: SqlStatement;
}

const maxColumns = 100;

export function rowStatements(dialect: SqlDialect, update: RowUpdate): RowUpdateStatements {
  const { table, key, set, term, fence = "fence" } = update;
  requireTerm(term);
  const keys = columns(key, "key", 1);
  const values = columns(set, "set", 0);
  if (dialect === "mysql") [...keys, ...values].forEach(requirePlainValue);
  const target = quotedName(dialect, table, "table");
  const column = quotedName(dialect, fence, "column");
  if (keys.some(([name]) => name === fence) || values.some(([name]) => name === fence)) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `The fence ${fence} is written by its own term; leave it out.`,
    );
  }

  const params: unknown[] = [];
  const bind = (value: unknown): string => placeholder(dialect, params.push(value));
  const equal = ([name, value]: Column): string => `${quotedName(dialect, name, "column")} = ${bind(value)}`;
  const assignments = [...values.map(equal), `${column} = ${bind(term)}`].join(", ");
  const conditions = [...keys.map(equal), `${column} <= ${bind(term)}`].join(" AND ");
  const returning = dialect === "mysql" ? "" : ` RETURNING ${column} AS term`;
  const write = { text: `UPDATE ${target} SET ${assignments} WHERE ${conditions}${returning}`, params };
  return { write, look: lookAt(dialect, { target, column, keys }) };
}

/** mysql2 and its like write an object into the statement as `name = value, …` and a list as several values. */
function requirePlainValue([name, value]: Column): void {
  if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array)
    return;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `The value of the column ${JSON.stringify(name)} is an object or a list, which MySQL's drivers would write into the ` +
      "statement as a part of it. Give JSON as text.",
  );
}

type Column = readonly [name: string, value: unknown];

interface Row {
  readonly target: string;
  readonly column: string;
  readonly keys: readonly Column[];
}

function lookAt(dialect: SqlDialect, { target, column, keys }: Row): SqlStatement {
  const params: unknown[] = [];
  const conditions = keys.map(
    ([name, value]) => `${quotedName(dialect, name, "column")} = ${placeholder(dialect, params.push(value))}`,
  );
  const locking = dialect === "mysql" ? " FOR UPDATE" : "";
  const text = `SELECT ${column} AS term FROM ${target} WHERE ${conditions.join(" AND ")}${locking}`;
  return { text, params };
}

function columns(given: unknown, what: "key" | "set", least: number): readonly Column[] {
  const entries = typeof given === "object" && given !== null ? Object.entries(given) : [];
  if (entries.length < least || entries.length > maxColumns) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `${what} names ${least} to ${maxColumns} columns, with their values.`,
    );
  }
  const empty = entries.find(([, value]) => value === undefined || (what === "key" && value === null));
  if (empty === undefined) return entries;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `${what} has no value for the column ${JSON.stringify(empty[0])}.`,
  );
}
