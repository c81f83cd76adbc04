/**
 * The billing database, a real PostgreSQL (PGlite): charges, and the guard rows that refuse an old term. Its tables
 * allow the damage on purpose, so that only the fence stands between a customer and a second charge.
 */

import type { PGlite } from "@electric-sql/pglite";
import { type SqlFence, StaleTermError, sqlFence } from "@quorate/client/fencing/sql";
import { CommandFailure, exitCodes } from "../../exitCodes.ts";

export interface Charge {
  readonly period: string;
  readonly customer: number;
  /** Who asks. */
  readonly by: string;
  /** Undefined where the period is not fenced. */
  readonly term: number | undefined;
}

export interface Totals {
  readonly charges: number;
  /** Customers with one charge at least, and with more than one. */
  readonly charged: number;
  readonly chargedTwice: number;
  readonly writers: readonly string[];
  /** Whether no term wrote after a newer one, by the order of the writes. */
  readonly termsRise: boolean;
}

const totalsQuery = `
  SELECT count(*)::int AS charges, count(DISTINCT customer)::int AS charged,
    (SELECT count(*) FROM (SELECT 1 FROM charge WHERE period = $1 GROUP BY customer HAVING count(*) > 1) AS twice)::int
      AS "chargedTwice",
    coalesce(array_agg(DISTINCT scheduler ORDER BY scheduler), '{}') AS writers,
    coalesce(bool_and(term >= before), true) AS "termsRise"
  FROM (SELECT *, lag(term, 1, term) OVER (ORDER BY id) AS before FROM charge WHERE period = $1) AS charges`;

export class BillingDatabase {
  readonly #database: PGlite;
  readonly #fence: SqlFence = sqlFence("postgresql");

  private constructor(database: PGlite) {
    this.#database = database;
  }

  /** Takes some seconds: PostgreSQL makes its cluster of databases in memory. */
  static async open(): Promise<BillingDatabase> {
    const { PGlite } = await loadPglite();
    const billing = new BillingDatabase(await PGlite.create());
    await billing.#database.exec(`
      ${billing.#fence.createTable};
      CREATE TABLE charge (id bigserial PRIMARY KEY, period text, customer int, scheduler text, term bigint)`);
    return billing;
  }

  /** The first act of a new term: from its commit on, older ones are refused. */
  async enter(period: string, term: number): Promise<void> {
    await this.#database.transaction((transaction) =>
      this.#fence.guard(transaction, { resource: period, term }),
    );
  }

  /** One transaction: the guard, then the charge. Rejects `StaleTermError`, and has written nothing then. */
  async charge({ period, customer, by, term }: Charge): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      if (term !== undefined) await this.#fence.guard(transaction, { resource: period, term });
      await transaction.query(
        "INSERT INTO charge (period, customer, scheduler, term) VALUES ($1, $2, $3, $4)",
        [period, customer, by, term ?? null],
      );
    });
  }

  async totals(period: string): Promise<Totals> {
    const { rows } = await this.#database.query<Totals>(totalsQuery, [period]);
    return rows[0] as Totals;
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

export { StaleTermError };

async function loadPglite(): Promise<typeof import("@electric-sql/pglite")> {
  try {
    return await import("@electric-sql/pglite");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CommandFailure(
      exitCodes.failed,
      "The demo's database is PGlite, which is not installed with quorate: npm install @electric-sql/pglite",
    );
  }
}
