/** Many holders of rising terms act at once, each in transactions of its own, some of whose works fail. */
import { type SqlFence, StaleTermError } from "@quorate/client/fencing/sql";
import { freshTables, ledgerTerms, type OpenConnection, type SqlWorld, writeLedger } from "./sqlWorld.ts";

export interface ActsReport {
  readonly committed: readonly number[];
  readonly refused: number;
  readonly broken: number;
  /** Errors of the database that say "again", by their words. */
  readonly retried: number;
  readonly ledger: readonly number[];
}

/** A small generator of its own: the same seed makes the same acts. */
export function chance(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

class WorkFailed extends Error {}

export async function actAtRandom(
  world: SqlWorld,
  fence: SqlFence,
  connections: readonly OpenConnection[],
  { seed, acts, isRetryable }: { seed: number; acts: number; isRetryable: (error: unknown) => boolean },
): Promise<ActsReport> {
  const pick = chance(seed);
  const [first] = connections as [OpenConnection];
  await freshTables(world, first, fence.createTable);
  let granted = 1;
  const committed: number[] = [];
  const count = { refused: 0, broken: 0, retried: 0 };

  async function act(connection: OpenConnection, term: number, fails: boolean): Promise<void> {
    try {
      await fence.transaction(connection, { resource: "billing", term }, async () => {
        await writeLedger(connection, term);
        await writeLedger(connection, term);
        if (fails) throw new WorkFailed("on purpose");
      });
      committed.push(term);
    } catch (error) {
      if (error instanceof WorkFailed) count.broken += 1;
      else if (error instanceof StaleTermError) {
        if (error.highest <= term || error.highest > granted) throw error;
        count.refused += 1;
      } else if (isRetryable(error)) {
        count.retried += 1;
        await act(connection, term, fails);
      } else throw error;
    }
  }

  await Promise.all(
    connections.map(async (connection) => {
      let term = 1;
      for (let number = 0; number < acts; number += 1) {
        // A third are granted a new term, the others go on under the one that they have, old as it may be.
        if (pick(3) === 0) term = ++granted;
        await act(connection, term, pick(5) === 0);
      }
    }),
  );
  return { committed, ...count, ledger: await ledgerTerms(first) };
}

/** Complaints about a report; none is right. */
export function complaints({ committed, ledger }: ActsReport): string[] {
  const found: string[] = [];
  for (const [at, term] of ledger.entries()) {
    if (at > 0 && term < (ledger[at - 1] as number)) found.push(`term ${term} wrote after ${ledger[at - 1]}`);
  }
  const sorted = (terms: readonly number[]): string => [...terms].sort((a, b) => a - b).join();
  if (sorted(ledger) !== sorted(committed.flatMap((term) => [term, term]))) {
    found.push("what is written is not what was told to be committed");
  }
  return found;
}
