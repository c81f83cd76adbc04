/** The four chapters: three ways in which the nightly run goes wrong, and the one in which it does not. */

import type { Totals } from "./billingDatabase.ts";
import type { BillingRules, SchedulerMessage } from "./month.ts";
import type { PaymentProvider } from "./paymentProvider.ts";
import { ofKind, type SchedulerChild } from "./schedulerChild.ts";
import { type Stage, schedulerNames } from "./stage.ts";
import type { TimelineEvent } from "./timeline.ts";

export interface Outcome {
  readonly customers: number;
  readonly totals: Totals;
  readonly payments: ReturnType<PaymentProvider["payments"]>;
  readonly events: readonly TimelineEvent[];
}

export interface Chapter {
  readonly title: string;
  readonly rules: BillingRules;
  /** Whether a timeline of leases says anything. */
  readonly drawn: boolean;
  play(stage: Stage, customers: number): Promise<void>;
  /** The sentence that the totals prove. */
  readonly moral: (outcome: Outcome) => string;
  /** What is not as the story says; none where it is. */
  complaints(outcome: Outcome): string[];
}

/** After this many customers the leader is frozen. */
const frozenAt = 5;

export const chapters: readonly Chapter[] = [
  {
    title: "Nobody coordinates: three replicas of the service, and each has the timer",
    rules: { period: "2026-11/uncoordinated", coordination: "none", fenced: false },
    drawn: false,
    async play(stage, customers) {
      const children = await stage.enter(schedulerNames);
      for (const child of children) child.midnight();
      stage.say(`It is midnight, and ${schedulerNames.join(", ")} bill ${customers} customers each`);
      await Promise.all(children.map((child) => child.next("it has billed", ofKind("finished"))));
    },
    moral: ({ totals }) => `Everybody is charged ${totals.charges / totals.charged} times.`,
    complaints: ({ totals, customers, payments }) => [
      ...differs("charges", totals.charges, 3 * customers),
      ...differs("customers charged more than once", totals.chargedTwice, customers),
      ...differs("payments", payments.taken, 3 * customers),
    ],
  },
  {
    title: "One pinned instance has the timer, and dies at eleven",
    rules: { period: "2026-11/pinned", coordination: "none", fenced: false },
    drawn: false,
    async play(stage) {
      const [only] = (await stage.enter(["A"])) as [SchedulerChild];
      await only.end();
      stage.say("A is dead (SIGKILL), and it is midnight");
    },
    moral: () => "Nobody is charged: there is no run, and nobody who would notice.",
    complaints: ({ totals, payments }) => [
      ...differs("charges", totals.charges, 0),
      ...differs("payments", payments.taken, 0),
    ],
  },
  {
    title: "A lease decides who bills, but nobody checks its term",
    rules: { period: "2026-11/unfenced", coordination: "lease", fenced: false },
    drawn: true,
    play: playTakeover,
    moral: ({ totals, payments, customers }) =>
      `${totals.chargedTwice} customer is charged twice and has paid twice: ${payments.taken} payments of ${customers} customers.`,
    complaints: ({ totals, customers, payments, events }) => [
      ...differs("charges", totals.charges, customers + 1),
      ...differs("customers charged more than once", totals.chargedTwice, 1),
      ...differs("payments", payments.taken, customers + 1),
      ...differs("refused writes", countOf(events, "refused"), 0),
    ],
  },
  {
    title: "A lease decides, and the database checks its term",
    rules: { period: "2026-11", coordination: "lease", fenced: true },
    drawn: true,
    play: playTakeover,
    moral: ({ totals, payments }) =>
      `Each of ${totals.charged} customers is charged once and has paid once, by ${totals.writers.join(" and then ")}; ` +
      `the provider was asked ${payments.asked} times and took ${payments.taken} payments.`,
    complaints: ({ totals, customers, payments, events }) => [
      ...differs("charges", totals.charges, customers),
      ...differs("customers charged", totals.charged, customers),
      ...differs("customers charged more than once", totals.chargedTwice, 0),
      ...differs("payments", payments.taken, customers),
      ...differs("requests for payments", payments.asked, customers + 1),
      ...differs("refused writes", countOf(events, "refused"), 1),
      ...differs("the schedulers that wrote", totals.writers.length, 2),
      ...(totals.termsRise ? [] : ["a term wrote after a newer one"]),
    ],
  },
];

/** A leads and freezes between its check and its write; its lease ends; B goes on; A wakes and sends its write. */
async function playTakeover(stage: Stage, customers: number): Promise<void> {
  const [a, b, c] = (await stage.enter(schedulerNames)) as [SchedulerChild, SchedulerChild, SchedulerChild];
  a.midnight();
  await a.next("it leads", ofKind("leads"));
  // B asks first and is the first in the queue; were it slower than C, the story would go on with C.
  b.midnight();
  await a.next("it makes invoice 3", ofKind("invoicing", 3));
  c.midnight();
  await a.next(`it makes invoice ${frozenAt}`, ofKind("invoicing", frozenAt));
  a.freeze();
  stage.happened("A", { kind: "frozen" });
  stage.say(`A has checked its lease, makes the invoice of customer ${frozenAt}, and freezes (SIGSTOP)`);
  const finished = ended(b, c, customers);
  // Waited for below; where the story ends early, its error is that of the step that failed.
  finished.catch(() => {});
  const next = await Promise.any(
    [b, c].map((child) => child.next("it goes on", ofKind("invoicing", frozenAt + 2))),
  );
  const lost = a.next("it has lost its lease", ofKind("lost"));
  lost.catch(() => {});
  a.wake();
  stage.happened("A", { kind: "woken" });
  stage.say(
    `A wakes up (SIGCONT) and sends what it was about to send, while customer ${next.customer} is billed`,
  );
  await lost;
  await finished;
}

/** Whoever took over has billed the last customer. */
function ended(b: SchedulerChild, c: SchedulerChild, customers: number): Promise<SchedulerMessage> {
  return Promise.any(
    [b, c].map(async (child) => {
      await child.next("it bills the last customer", ofKind("invoicing", customers));
      return child.next("it has billed everybody", ofKind("finished"));
    }),
  );
}

function countOf(events: readonly TimelineEvent[], kind: TimelineEvent["kind"]): number {
  return events.filter((event) => event.kind === kind).length;
}

function differs(what: string, found: number | string, right: number | string): string[] {
  return found === right ? [] : [`${what}: ${found}, and not ${right}`];
}
