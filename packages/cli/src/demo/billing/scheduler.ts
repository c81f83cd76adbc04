/**
 * One scheduler: at midnight it bills every customer, on from where its predecessor came to, if it may. Knows leases
 * only as what it needs of them, so that the story without any is the same loop.
 */
import { termHeaders } from "@quorate/client/fencing";
import { postJson } from "./localHttp.ts";
import { paymentKey, type SchedulerMessage, type SchedulerOrders } from "./month.ts";

/** What the loop needs of whatever says that it may bill. */
export interface Leadership {
  /** Undefined where nobody coordinates. */
  readonly term: number | undefined;
  /** Throws when the lease is lost by this process's own clock. */
  check(): void;
  /** The last customer that a predecessor finished; 0: none. */
  lastFinished(): Promise<number>;
  /** Written under the term. */
  finished(customer: number): Promise<void>;
}

/** The billing service refused the term: another scheduler leads by now. */
export class TermRefused extends Error {}

export async function bill(
  orders: SchedulerOrders,
  leadership: Leadership,
  tell: (message: SchedulerMessage) => void,
): Promise<void> {
  const { term } = leadership;
  if (term !== undefined && orders.fenced) await send(orders, term, "enter", 0);
  const from = (await leadership.lastFinished()) + 1;
  if (term !== undefined) tell({ kind: "leads", term, from });
  for (let customer = from; customer <= orders.customers; customer += 1) {
    leadership.check();
    tell({ kind: "invoicing", customer });
    // Between the check and the write there is always some time. Here it is the making of an invoice.
    await new Promise((resolve) => setTimeout(resolve, orders.invoiceMs));
    await pay(orders, customer);
    await send(orders, term, "charge", customer);
    await leadership.finished(customer);
  }
}

async function send(
  { billingUrl, period, name }: SchedulerOrders,
  term: number | undefined,
  what: "enter" | "charge",
  customer: number,
): Promise<void> {
  const headers = term === undefined ? {} : termHeaders(term);
  const { status, body } = await postJson(`${billingUrl}/${what}`, { period, customer, by: name }, headers);
  if (status === 409)
    throw new TermRefused(`The billing service refused customer ${customer} under term ${term}.`);
  if (status !== 200) throw new Error(`The billing service answered ${status}: ${JSON.stringify(body)}`);
}

async function pay({ paymentUrl, period, fenced }: SchedulerOrders, customer: number): Promise<void> {
  const headers = fenced ? { "idempotency-key": paymentKey(period, customer) } : {};
  const { status } = await postJson(paymentUrl, { period, customer }, headers);
  if (status !== 200) throw new Error(`The payment provider answered ${status}.`);
}
