/**
 * Where one chapter of the story is played: its schedulers' processes, and everything that happens to them by time.
 * What happens is said at once, in a line, and drawn at the end of the chapter.
 */
import type { Verdict } from "./billingService.ts";
import type { BillingRules, SchedulerMessage, SchedulerOrders } from "./month.ts";
import { SchedulerChild } from "./schedulerChild.ts";
import { type TimelineEvent, timelineLegend, timelineLines } from "./timeline.ts";

export type World = Pick<SchedulerOrders, "endpoints" | "billingUrl" | "paymentUrl"> & {
  readonly customers: number;
  readonly invoiceMs: number;
  readonly leaseTtlMs: number;
};

export interface Output {
  line(text: string): void;
  /** Columns of the terminal. */
  readonly width: number;
}

export const schedulerNames = ["A", "B", "C"] as const;
export type SchedulerName = (typeof schedulerNames)[number];

type Happening = TimelineEvent extends infer Event
  ? Event extends TimelineEvent
    ? Omit<Event, "atMs" | "who">
    : never
  : never;

export class Stage {
  readonly #rules: BillingRules;
  readonly #world: World;
  readonly #out: Output;
  readonly #events: TimelineEvent[] = [];
  readonly #children: SchedulerChild[] = [];
  #startMs: number = performance.now();

  constructor(rules: BillingRules, world: World, out: Output) {
    this.#rules = rules;
    this.#world = world;
    this.#out = out;
  }

  get events(): readonly TimelineEvent[] {
    return this.#events;
  }

  /** Starts the processes and resolves when each is ready for midnight, which is second 0. */
  async enter(names: readonly SchedulerName[]): Promise<SchedulerChild[]> {
    const { customers, invoiceMs, leaseTtlMs, endpoints, billingUrl, paymentUrl } = this.#world;
    const settings = { customers, invoiceMs, leaseTtlMs, endpoints, billingUrl, paymentUrl };
    const children = names.map((name) => {
      const orders = { ...this.#rules, ...settings, name };
      const child = new SchedulerChild(orders, (who, message) => this.#heard(who as SchedulerName, message));
      this.#children.push(child);
      return child;
    });
    await Promise.all(children.map((child) => child.next("it is ready", isReady)));
    this.#startMs = performance.now();
    return children;
  }

  /** What the billing service decided. */
  judged({ by, customer, term, accepted }: Verdict): void {
    this.happened(by, { kind: accepted ? "accepted" : "refused" });
    if (!accepted)
      this.say(`${by}'s charge of customer ${customer} under term ${term} is REFUSED by the database`);
  }

  happened(who: string, happening: Happening): void {
    this.#events.push({ ...happening, who, atMs: performance.now() - this.#startMs });
  }

  say(text: string): void {
    const seconds = ((performance.now() - this.#startMs) / 1_000).toFixed(2);
    this.#out.line(`  ${seconds.padStart(5)} s  ${text}`);
  }

  draw(): void {
    const lines = timelineLines(
      this.#events,
      this.#children.map(({ name }) => name),
      this.#out.width - 4,
    );
    this.#out.line("");
    for (const line of lines) this.#out.line(`  ${line}`);
    this.#out.line(`  ${timelineLegend}`);
  }

  async leave(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.end()));
  }

  #heard(who: SchedulerName, message: SchedulerMessage): void {
    switch (message.kind) {
      case "leads":
        this.happened(who, { kind: "leads", term: message.term });
        if (message.from <= this.#world.customers) {
          this.say(`${who} leads in term ${message.term} and ${beginning(message.from)}`);
        }
        return;
      case "lost":
        this.happened(who, { kind: "ended" });
        this.say(`${who} stops: ${firstSentence(message.message)}`);
        return;
      case "finished":
        this.happened(who, { kind: "ended" });
        return;
      case "ready":
      case "invoicing":
        return;
      default:
        unknownMessage(message);
    }
  }
}

function isReady(message: SchedulerMessage): message is Extract<SchedulerMessage, { kind: "ready" }> {
  return message.kind === "ready";
}

function beginning(from: number): string {
  return from === 1 ? "begins with customer 1" : `goes on with customer ${from}, after the last finished one`;
}

function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
}

function unknownMessage(message: never): never {
  throw new Error(`A scheduler says what nobody understands: ${JSON.stringify(message)}`);
}
