/**
 * Two transactions, one of an old term and one of a newer, in every order of their steps. A step that the database lets
 * wait is left waiting, seen in the database's own tables and not by a span of time, and the next step of the order is
 * taken.
 */
import { type SqlFence, StaleTermError } from "@quorate/client/fencing/sql";
import { pause } from "../process/rig/waiting.ts";
import { freshTables, ledgerTerms, type OpenConnection, type SqlWorld, writeLedger } from "./sqlWorld.ts";

export interface Case {
  readonly terms: readonly [old: number, newer: number];
  /** The term of the guard row before; undefined: there is no row. */
  readonly before: number | undefined;
  /** How the newer one's transaction ends. */
  readonly newerEnds: "COMMIT" | "ROLLBACK";
  /** Isolation level; undefined: the database's own. */
  readonly level?: string;
}

/** `refused`: by a `StaleTermError`. `failed`: by an error of the database, such as a serialization failure. */
export type Verdict = "committed" | "rolled back" | "refused" | "failed";

export interface Played {
  readonly verdicts: readonly [Verdict, Verdict];
  /** Terms in the order of their writes, of what is committed. */
  readonly ledger: readonly number[];
  /** Which step of the order had to wait, by number. */
  readonly waited: readonly number[];
}

const steps = 4;

/** Every order of two transactions' four steps: 70, each as a list of who steps. */
export function allOrders(): readonly (readonly (0 | 1)[])[] {
  const orders: (0 | 1)[][] = [];
  for (let mask = 0; mask < 1 << (2 * steps); mask += 1) {
    const order = Array.from({ length: 2 * steps }, (_, bit) => ((mask >> bit) & 1) as 0 | 1);
    if (order.filter((who) => who === 1).length === steps) orders.push(order);
  }
  return orders;
}

class Transaction {
  verdict: Verdict | undefined;
  isSettled = true;
  readonly connection: OpenConnection;
  readonly #steps: (() => Promise<void>)[];
  #tail: Promise<void> = Promise.resolve();

  constructor(connection: OpenConnection, fence: SqlFence, term: number, setting: Omit<Case, "terms">) {
    this.connection = connection;
    this.#steps = [
      () => begin(connection, fence.dialect, setting.level),
      () => fence.guard(connection, { resource: "billing", term }),
      () => writeLedger(connection, term),
      async () => {
        await connection.query(setting.newerEnds);
        this.verdict = setting.newerEnds === "COMMIT" ? "committed" : "rolled back";
      },
    ];
  }

  /** Starts the next step, after those before it have settled. */
  step(): void {
    const step = this.#steps.shift();
    this.isSettled = false;
    this.#tail = this.#tail.then(async () => {
      try {
        if (this.verdict === undefined) await step?.();
      } catch (error) {
        this.verdict = error instanceof StaleTermError ? "refused" : "failed";
        await this.connection.query("ROLLBACK");
      }
      this.isSettled = true;
    });
  }

  async settledOrWaiting(): Promise<"settled" | "waiting"> {
    const endMs = performance.now() + 20_000;
    while (performance.now() < endMs) {
      await Promise.race([this.#tail, pause(2)]);
      if (this.isSettled) return "settled";
      if (await this.connection.isWaiting()) return "waiting";
    }
    throw new Error("Waited 20,000 ms in vain until a step has settled or waits for a lock");
  }

  async ended(): Promise<Verdict> {
    await this.#tail;
    return this.verdict as Verdict;
  }
}

/** MySQL takes the level before the transaction, PostgreSQL as its first statement. */
async function begin(
  connection: OpenConnection,
  dialect: SqlFence["dialect"],
  level: string | undefined,
): Promise<void> {
  const setLevel = level === undefined ? [] : [`SET TRANSACTION ISOLATION LEVEL ${level}`];
  const words = dialect === "sqlite" ? ["BEGIN"] : ["START TRANSACTION"];
  for (const text of dialect === "mysql" ? [...setLevel, ...words] : [...words, ...setLevel]) {
    await connection.query(text);
  }
}

export async function play(
  world: SqlWorld,
  fence: SqlFence,
  connections: readonly [OpenConnection, OpenConnection],
  { order, ...setting }: Case & { readonly order: readonly (0 | 1)[] },
): Promise<Played> {
  const [first, second] = connections;
  await freshTables(world, first, fence.createTable);
  if (setting.before !== undefined) {
    await fence.transaction(first, { resource: "billing", term: setting.before });
  }
  const [old, newer] = setting.terms;
  const pair = [
    new Transaction(first, fence, old, { ...setting, newerEnds: "COMMIT" }),
    new Transaction(second, fence, newer, setting),
  ] as const;
  const waited: number[] = [];
  for (const [number, who] of order.entries()) {
    pair[who].step();
    if ((await pair[who].settledOrWaiting()) === "waiting") waited.push(number);
  }
  const verdicts = [await pair[0].ended(), await pair[1].ended()] as const;
  return { verdicts, ledger: await ledgerTerms(first), waited };
}

/** What has to come out where nobody fails: whoever guards first is first, and an old one after a newer is refused. */
export function expectedVerdicts(
  order: readonly (0 | 1)[],
  newerEnds: Case["newerEnds"],
): [Verdict, Verdict] {
  const guardOf = (who: 0 | 1): number => order.flatMap((by, at) => (by === who ? [at] : []))[1] as number;
  const newer = newerEnds === "COMMIT" ? "committed" : "rolled back";
  const isOldFirst = guardOf(0) < guardOf(1);
  return [isOldFirst || newerEnds === "ROLLBACK" ? "committed" : "refused", newer];
}
