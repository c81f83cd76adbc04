/**
 * The nightly billing run, for real: processes, a cluster, a database, a SIGSTOP. Plays the chapters one after the
 * other, asks the database for its totals after each, and says whether they are what the story claims.
 */
import { startLocalCluster } from "../localCluster.ts";
import { BillingDatabase } from "./billingDatabase.ts";
import { billingService } from "./billingService.ts";
import { type Chapter, chapters } from "./chapters.ts";
import { paymentProvider } from "./paymentProvider.ts";
import { type Output, Stage } from "./stage.ts";

/** Short, so that the story is; a service of your own takes the default of 15 s, or thinks about it. */
const leaseTtlMs = 2_000;
const customers = 12;
const invoiceMs = 150;

/**
 * Resolves with what is not as it should be, by chapter; nothing where all is. `interrupted` rejects when the story is
 * to end early: everything that it started is ended then, too.
 */
export async function playBilling(out: Output, interrupted: Promise<never>): Promise<string[]> {
  out.line("Starting a cluster of three nodes, a billing database (PGlite) and a payment provider …");
  const disposals: (() => Promise<void>)[] = [];
  let stage: Stage | undefined;
  try {
    // One after the other: PGlite, while it starts, lets this process do nothing else.
    const database = await kept(disposals, BillingDatabase.open(), (it) => it.close());
    const provider = await kept(disposals, paymentProvider(), (it) => it.close());
    const cluster = await kept(disposals, startLocalCluster(), (it) => it.stop());
    const fenced = new Set(chapters.flatMap(({ rules }) => (rules.fenced ? [rules.period] : [])));
    const service = await kept(
      disposals,
      billingService(
        database,
        (period) => fenced.has(period),
        (verdict) => stage?.judged(verdict),
      ),
      (it) => it.close(),
    );
    const places = { endpoints: cluster.endpoints, billingUrl: service.url, paymentUrl: provider.url };
    const world = { ...places, customers, invoiceMs, leaseTtlMs };

    const found: string[] = [];
    for (const [number, chapter] of chapters.entries()) {
      out.line("");
      out.line(`${number + 1}. ${chapter.title}`);
      const current = new Stage(chapter.rules, world, out);
      stage = current;
      try {
        await Promise.race([chapter.play(current, customers), interrupted]);
      } finally {
        await current.leave();
      }
      if (chapter.drawn) current.draw();
      found.push(...(await judge(chapter, current, { database, provider, out })));
    }
    return found;
  } finally {
    for (const dispose of disposals.reverse()) await dispose();
  }
}

interface Judging {
  readonly database: BillingDatabase;
  readonly provider: Awaited<ReturnType<typeof paymentProvider>>;
  readonly out: Output;
}

async function judge(
  chapter: Chapter,
  stage: Stage,
  { database, provider, out }: Judging,
): Promise<string[]> {
  const { period } = chapter.rules;
  const totals = await database.totals(period);
  const outcome = { customers, totals, payments: provider.payments(period), events: stage.events };
  const { charges, charged, chargedTwice } = totals;
  out.line("");
  out.line(
    `   In the database: ${charges} charges, ${charged} of ${customers} customers charged, ${chargedTwice} of them more than once.`,
  );
  const complaints = chapter.complaints(outcome);
  out.line(
    complaints.length === 0
      ? `   ${chapter.moral(outcome)}`
      : `   Not as it should be: ${complaints.join("; ")}.`,
  );
  return complaints.map((complaint) => `${chapter.title}: ${complaint}`);
}

async function kept<T>(
  disposals: (() => Promise<void>)[],
  opening: Promise<T>,
  close: (it: T) => Promise<void>,
): Promise<T> {
  const it = await opening;
  disposals.push(() => close(it));
  return it;
}
