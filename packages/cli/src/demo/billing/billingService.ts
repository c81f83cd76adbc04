/**
 * The billing service: the only way to the billing database. It takes the term from a header and leaves the decision to
 * the database. Tells whoever looks on what it accepted and what it refused.
 */
import { termFrom, termRefusal } from "@quorate/client/fencing";
import { type BillingDatabase, StaleTermError } from "./billingDatabase.ts";
import { type JsonAnswer, type LocalService, serveJson } from "./localHttp.ts";

export interface Verdict {
  readonly period: string;
  readonly customer: number;
  readonly by: string;
  readonly term: number | undefined;
  readonly accepted: boolean;
}

interface Asked {
  readonly period: string;
  readonly customer: number;
  readonly by: string;
}

/** `POST /enter` is the first act of a term, `POST /charge` charges a customer; both with the header `quorate-term`. */
export function billingService(
  database: BillingDatabase,
  isFenced: (period: string) => boolean,
  told: (verdict: Verdict) => void,
): Promise<LocalService> {
  return serveJson(async (path, body, headers): Promise<JsonAnswer> => {
    const { period, customer, by } = body as Asked;
    try {
      const term = isFenced(period) ? termFrom(headers) : undefined;
      if (path === "/enter") {
        if (term !== undefined) await database.enter(period, term);
        return { status: 200, body: {} };
      }
      try {
        await database.charge({ period, customer, by, term });
        told({ period, customer, by, term, accepted: true });
        return { status: 200, body: {} };
      } catch (error) {
        if (error instanceof StaleTermError) told({ period, customer, by, term, accepted: false });
        throw error;
      }
    } catch (error) {
      const refusal = termRefusal(error);
      if (refusal === undefined) throw error;
      return { status: refusal.status, body: JSON.parse(refusal.body) };
    }
  });
}
