/**
 * In what the three databases differ: names, parameters, how a transaction begins, and who ends one whose holder has
 * frozen. Statements themselves stand in `guardStatements` and `rowStatements`. Must hold no connection and no state.
 */
import { QuorateError } from "@quorate/raft";

/** `mysql` is MariaDB too. */
export type SqlDialect = "postgresql" | "mysql" | "sqlite";

export const sqlDialects: readonly SqlDialect[] = ["postgresql", "mysql", "sqlite"];

/** As every driver takes it: placeholders in `text`, their values in `params`. */
export interface SqlStatement {
  readonly text: string;
  readonly params: readonly unknown[];
}

export interface Timeouts {
  /** How long the guard waits for another holder's transaction, ms. */
  readonly lockTimeoutMs: number;
  /** How long the database lets a transaction do nothing before it ends it, ms. */
  readonly idleTimeoutMs: number;
}

/** Longer than PostgreSQL's 63 bytes is cut off there in silence, to a name that may be another's. */
const identifier = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** `what` names it in the message. A table may have its schema before it: `billing.fence`. */
export function quotedName(dialect: SqlDialect, name: string, what: "table" | "column"): string {
  const parts = typeof name === "string" ? name.split(".") : [];
  const most = what === "table" ? 2 : 1;
  if (parts.length < 1 || parts.length > most || !parts.every((part) => identifier.test(part))) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `The ${what} ${JSON.stringify(name)} is no name: letters, digits and _, at most 63, not a digit first` +
        `${what === "table" ? ", with its schema and a dot before it if need be" : ""}.`,
    );
  }
  const mark = dialect === "mysql" ? "`" : '"';
  return parts.map((part) => `${mark}${part}${mark}`).join(".");
}

/** Counted from 1. */
export function placeholder(dialect: SqlDialect, position: number): string {
  return dialect === "postgresql" ? `$${position}` : "?";
}

/** The savepoint that shows whether the guard's transaction is still the one in which the work runs. */
export const savepoint = "quorate_fence";
/** Another one: in MySQL a savepoint of the same name takes the place of the first. */
export const guardSavepoint = "quorate_guard";

function plain(text: string): SqlStatement {
  return { text, params: [] };
}

/**
 * Opens a transaction. A holder that froze in one keeps the guard row locked, so the database itself has to end it:
 * PostgreSQL after `idle_in_transaction_session_timeout`, MySQL and MariaDB after `wait_timeout`, which counts between
 * any two statements and is put back at the end. SQLite has only its one lock, and no server to take it away.
 */
export function opening(dialect: SqlDialect, { lockTimeoutMs, idleTimeoutMs }: Timeouts): SqlStatement[] {
  const seconds = (ms: number): number => Math.ceil(ms / 1_000);
  switch (dialect) {
    case "postgresql":
      return [
        plain("BEGIN"),
        {
          text: "SELECT set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)",
          params: [`${lockTimeoutMs}ms`, `${idleTimeoutMs}ms`],
        },
      ];
    case "mysql":
      return [
        plain(
          "SET @quorate_lock_wait = @@SESSION.innodb_lock_wait_timeout, @quorate_wait = @@SESSION.wait_timeout",
        ),
        plain(
          `SET SESSION innodb_lock_wait_timeout = ${seconds(lockTimeoutMs)}, SESSION wait_timeout = ${seconds(idleTimeoutMs)}`,
        ),
        plain("START TRANSACTION"),
      ];
    case "sqlite":
      // Not deferred: a read before the first write would be of a snapshot that the guard has not protected.
      return [plain("BEGIN IMMEDIATE")];
    default:
      return unknownDialect(dialect);
  }
}

/** Puts back what `opening` set for longer than the transaction. */
export function closing(dialect: SqlDialect): SqlStatement[] {
  if (dialect !== "mysql") return [];
  return [
    plain("SET SESSION innodb_lock_wait_timeout = @quorate_lock_wait, SESSION wait_timeout = @quorate_wait"),
  ];
}

export function unknownDialect(dialect: never): never {
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `The dialect ${JSON.stringify(dialect)} is not known; it is one of ${sqlDialects.join(", ")}.`,
  );
}
