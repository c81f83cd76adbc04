/**
 * The guard row and the row fence over a connection: a few round trips around your own statements. Every way that does
 * not end in a clear consent of the database ends in an error.
 *
 *   BEGIN ─▶ timeouts ─▶ SAVEPOINT ─▶ claim ─▶ your work ─▶ RELEASE ─▶ COMMIT
 *                                       │ newer term: StaleTermError, ROLLBACK
 */
import { type OptionNames, QuorateError, refuseUnknownOptions } from "@quorate/raft";
import { type FencedAct, requireAct } from "../fencedAct.ts";
import { StaleTermError } from "../staleTermError.ts";
import {
  closing,
  guardSavepoint,
  opening,
  quotedName,
  type SqlDialect,
  type SqlStatement,
  savepoint,
  sqlDialects,
  type Timeouts,
  unknownDialect,
} from "./dialects.ts";
import { affectedRows, ask, requireConnection, type SqlConnection, termIn } from "./driverAnswers.ts";
import { createTable, type GuardStatements, guardStatements } from "./guardStatements.ts";
import { type RowUpdate, type RowUpdateStatements, rowStatements } from "./rowStatements.ts";

export interface SqlFenceOptions {
  /** The guard rows' table, `name` or `schema.name`. Default `quorate_fence`. */
  readonly table?: string;
  /** How long the guard waits for another holder's transaction: 1 to 3,600,000 ms, default 5,000. Not in SQLite. */
  readonly lockTimeoutMs?: number;
  /**
   * How long a transaction may do nothing before the database ends it: 1 to 3,600,000 ms, default 10,000. It bounds how
   * long a frozen holder keeps its successor waiting. Not in SQLite; whole seconds, rounded up, in MySQL.
   */
  readonly idleTimeoutMs?: number;
}

export interface SqlFence {
  readonly dialect: SqlDialect;
  /** Makes the table of the guard rows where there is none. */
  readonly createTable: string;
  /** The guard's statements, for those who run them by themselves: in a transaction, before all else. */
  guardStatements(act: FencedAct): GuardStatements;
  /** The row fence's statements. */
  rowStatements(update: RowUpdate): RowUpdateStatements;
  /**
   * Checks the term inside a transaction that you opened, and locks the guard row to its end. It has to be the
   * transaction's first statement, or follow other guards: of several resources, always in the same order.
   * Rejects `StaleTermError`, then roll back; and with the database's own errors.
   */
  guard(connection: SqlConnection, act: FencedAct): Promise<void>;
  /**
   * Runs `work` in a transaction of its own that the guard opens, commits, and gives its result. Without `work` it
   * is the first act of a new holder: from its commit on no older term writes, so what is read then is final.
   *
   * Rejects `StaleTermError` (nothing was written), with what `work` threw (rolled back), or with the database's own
   * error; where `COMMIT` fails, only the database knows whether it was done.
   */
  transaction<Result = void>(
    connection: SqlConnection,
    act: FencedAct,
    work?: () => Result | Promise<Result>,
  ): Promise<Result>;
  /** Writes one row under its own fence. False: there is no such row. Rejects `StaleTermError`. */
  updateRow(connection: SqlConnection, update: RowUpdate): Promise<boolean>;
}

const optionNames: OptionNames<SqlFenceOptions> = { table: true, lockTimeoutMs: true, idleTimeoutMs: true };

/** Throws `INVALID_ARGUMENT` where an option makes no sense, `INVALID_OPTIONS` where there is none of that name. */
export function sqlFence(dialect: SqlDialect, options: SqlFenceOptions = {}): SqlFence {
  if (!sqlDialects.includes(dialect)) return unknownDialect(dialect as never);
  refuseUnknownOptions(options, { call: "sqlFence()", names: optionNames });
  const table = quotedName(dialect, options.table ?? "quorate_fence", "table");
  const timeouts: Timeouts = Object.freeze({
    lockTimeoutMs: timeout(options.lockTimeoutMs ?? 5_000, "lockTimeoutMs"),
    idleTimeoutMs: timeout(options.idleTimeoutMs ?? 10_000, "idleTimeoutMs"),
  });

  function statementsOf(act: FencedAct): GuardStatements {
    requireAct(act);
    return guardStatements(dialect, table, act);
  }

  return {
    dialect,
    createTable: createTable(dialect, table),
    guardStatements: statementsOf,
    rowStatements: (update) => rowStatements(dialect, update),
    async guard(connection, act) {
      requireConnection(connection);
      const statements = statementsOf(act);
      if (dialect === "sqlite") await requireTransaction(connection);
      // Outside a transaction PostgreSQL refuses the first of these and MySQL the last: the lock would be gone by then.
      await ask(connection, bare(`SAVEPOINT ${guardSavepoint}`));
      await claim(connection, act, statements);
      await ask(connection, bare(`RELEASE SAVEPOINT ${guardSavepoint}`));
    },
    async transaction(connection, act, work) {
      requireConnection(connection);
      const statements = statementsOf(act);
      return alone(connection, () =>
        fenced(connection, { dialect, timeouts }, async () => {
          await ask(connection, bare(`SAVEPOINT ${savepoint}`));
          await claim(connection, act, statements);
          return (await work?.()) as never;
        }),
      );
    },
    updateRow: (connection, update) => updateRow(connection, dialect, update),
  };
}

function bare(text: string): SqlStatement {
  return { text, params: [] };
}

function timeout(ms: number, name: string): number {
  if (Number.isInteger(ms) && ms >= 1 && ms <= 3_600_000) return ms;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `${name} is ${ms}; it has to be an integer from 1 to 3600000 ms.`,
  );
}

async function claim(
  connection: SqlConnection,
  { resource, term }: FencedAct,
  statements: GuardStatements,
): Promise<void> {
  const claimed = termIn(await ask(connection, statements.claim));
  if (statements.judgedBy === "claim" && claimed === term) return;
  const found = termIn(await ask(connection, statements.look));
  if (statements.judgedBy === "look" && found === term) return;
  if (found !== undefined && found > term) throw new StaleTermError(resource, term, found);
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `The guard row of ${JSON.stringify(resource)} answered term ${found ?? "none"} to term ${term}. Has the table the ` +
      "key and the types of createTable, and does query() give the rows of every statement?",
  );
}

/** Those with a guarded transaction under way. */
const atWork = new WeakSet<SqlConnection>();

/**
 * A second transaction on a connection would join the first one, or end it, and what is left of either's work would be
 * written without a guard. Refused and not queued: one inside the work of another would wait for its own end.
 */
async function alone<Result>(connection: SqlConnection, run: () => Promise<Result>): Promise<Result> {
  if (atWork.has(connection)) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      "This connection has a guarded transaction under way, and nothing was sent. Await its end first, or take another " +
        "connection; several resources in one transaction are what guard() is for.",
    );
  }
  atWork.add(connection);
  try {
    return await run();
  } finally {
    atWork.delete(connection);
  }
}

/** SQLite alone opens a transaction of its own for a savepoint outside of one, and ends it with that. */
async function requireTransaction(connection: SqlConnection): Promise<void> {
  try {
    await ask(connection, bare("BEGIN"));
  } catch {
    // There is one: it goes on as it was.
    return;
  }
  await ask(connection, bare("ROLLBACK"));
  throw new QuorateError(
    "INVALID_ARGUMENT",
    "guard() was called outside of a transaction, where it protects nothing: BEGIN IMMEDIATE comes before it. Nothing was written.",
  );
}

async function fenced<Result>(
  connection: SqlConnection,
  { dialect, timeouts }: { dialect: SqlDialect; timeouts: Timeouts },
  work: () => Promise<Result>,
): Promise<Result> {
  let isOpen = false;
  try {
    for (const statement of opening(dialect, timeouts)) await ask(connection, statement);
    isOpen = true;
    const result = await work();
    await requireSameTransaction(connection);
    await ask(connection, bare("COMMIT"));
    return result;
  } catch (error) {
    // The first error is the one that tells. Where the connection is lost, its transaction is rolled back by its end.
    // SQLite refuses to open one within another: that other one is not ours to roll back.
    if (isOpen || dialect !== "sqlite") await attempt(connection, bare("ROLLBACK"));
    throw error;
  } finally {
    for (const statement of closing(dialect)) await attempt(connection, statement);
  }
}

/** Work that commits by itself, or by a statement that commits in passing, would go on without the lock. */
async function requireSameTransaction(connection: SqlConnection): Promise<void> {
  try {
    await ask(connection, bare(`RELEASE SAVEPOINT ${savepoint}`));
  } catch (cause) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      "The transaction that the guard opened is not there any more: the work ended it (in MySQL a statement on a schema " +
        "does), kept an error of the database to itself, or the connection was lost. Find out what was written.",
      { outcome: "unknown", cause },
    );
  }
}

async function attempt(connection: SqlConnection, statement: SqlStatement): Promise<void> {
  try {
    await ask(connection, statement);
  } catch {
    // Whoever uses the connection next is told the same by it.
  }
}

async function updateRow(
  connection: SqlConnection,
  dialect: SqlDialect,
  update: RowUpdate,
): Promise<boolean> {
  const { write, look } = rowStatements(dialect, update);
  const answer = await ask(connection, write);
  if (dialect === "mysql" ? affectedRows(answer) > 0 : termIn(answer) !== undefined) return true;
  const found = termIn(await ask(connection, look));
  if (found !== undefined && found > update.term) throw new StaleTermError(update.table, update.term, found);
  // MySQL counts no row that was already as it should be.
  return dialect === "mysql" && found === update.term;
}
