/**
 * The payment provider: somebody else's service that knows nothing of terms. What it is asked twice under one
 * idempotency key it does once; what comes without a key it does each time.
 */
import { type LocalService, serveJson } from "./localHttp.ts";

export interface PaymentProvider extends LocalService {
  /** Payments taken for a period, and requests for them. */
  payments(period: string): { readonly taken: number; readonly asked: number };
}

export async function paymentProvider(): Promise<PaymentProvider> {
  const taken = new Map<string, string>();
  const asked = new Map<string, number>();
  let unkeyed = 0;
  const service = await serveJson(async (_path, body, headers) => {
    const { period } = body as { readonly period: string };
    const key = headers["idempotency-key"] ?? `without-a-key/${++unkeyed}`;
    asked.set(period, (asked.get(period) ?? 0) + 1);
    const isRepeated = taken.has(String(key));
    taken.set(String(key), period);
    return { status: 200, body: { isRepeated } };
  });
  return {
    ...service,
    payments: (period) => ({
      taken: [...taken.values()].filter((of) => of === period).length,
      asked: asked.get(period) ?? 0,
    }),
  };
}
