/**
 * A term over HTTP: the header that carries it, and the answers to one that is missing or too old. For any server and
 * any client, since it knows only headers, a status and a body.
 */
import { noTerm, requireTerm, saysNoTerm } from "./fencedAct.ts";
import { StaleTermError } from "./staleTermError.ts";

/** In lower case, as Node.js gives the names of headers. */
export const termHeader = "quorate-term";

/** What the holder of a lease sends along: `fetch(url, { method: "POST", headers: termHeaders(lease.term) })`. */
export function termHeaders(term: number): Record<string, string> {
  requireTerm(term);
  return { [termHeader]: String(term) };
}

/** The term of a request of node:http, Fastify or Express. Throws `INVALID_ARGUMENT` where there is none. */
export function termFrom(headers: Readonly<Record<string, string | string[] | undefined>>): number {
  const text = headers[termHeader];
  const term = typeof text === "string" && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(term)) return term;
  throw noTerm(
    `The header ${termHeader} is ${text === undefined ? "missing" : JSON.stringify(text)}: send the lease's term, an integer.`,
  );
}

export interface TermRefusal {
  /** 409 to a term that is too old, 428 to a request without one. */
  readonly status: 409 | 428;
  /** JSON. */
  readonly body: string;
}

/** The answer to a request that `termFrom` or a fence refused; undefined for other errors, which are yours. */
export function termRefusal(error: unknown): TermRefusal | undefined {
  if (error instanceof StaleTermError) {
    const { code, message, resource, term, highest } = error;
    return { status: 409, body: JSON.stringify({ error: { code, message, resource, term, highest } }) };
  }
  if (!saysNoTerm(error)) return undefined;
  return { status: 428, body: JSON.stringify({ error: { code: error.code, message: error.message } }) };
}
