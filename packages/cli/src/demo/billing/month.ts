/** The month to be billed, and what the processes of the story tell each other about it. */

/** How a chapter of the story bills. */
export interface BillingRules {
  /** Its name in the database: one month of its own for each chapter. */
  readonly period: string;
  /** `lease`: only whoever has the lease bills. `none`: whoever is there. */
  readonly coordination: "none" | "lease";
  /** Whether the billing service checks terms, and the payment provider is given an idempotency key. */
  readonly fenced: boolean;
}

export interface SchedulerOrders extends BillingRules {
  /** A, B or C. */
  readonly name: string;
  readonly customers: number;
  /** How long one invoice takes to make, ms: what lies between the check of the lease and the write. */
  readonly invoiceMs: number;
  readonly leaseTtlMs: number;
  /** Of the nodes of the cluster. */
  readonly endpoints: readonly string[];
  readonly billingUrl: string;
  readonly paymentUrl: string;
}

/** From a scheduler's process. */
export type SchedulerMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "leads"; readonly term: number; readonly from: number }
  /** It has checked its lease and makes the invoice now; the write comes next. */
  | { readonly kind: "invoicing"; readonly customer: number }
  | { readonly kind: "lost"; readonly message: string }
  | { readonly kind: "finished" };

/** To a scheduler's process: it is midnight. */
export const midnight = "midnight";

/** What is to happen, whoever does it: the same for an old leader and a new one. */
export function paymentKey(period: string, customer: number): string {
  return `charge/${customer}/${period}`;
}
