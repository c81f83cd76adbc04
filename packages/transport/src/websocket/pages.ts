/**
 * What a port answers to plain HTTP requests: the pages that its owner serves, the challenge of the shared secret, and
 * a sentence for everyone else. Pages are few and small; a watcher may wait for one.
 */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { challengeHeader, headerOf } from "./helloHeaders.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Challenges } from "./secret.ts";

export interface PageRequest {
  /** As in the request, without the query: `/metrics`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** It showed the shared secret (`authorization: Bearer …`), or none is asked for. */
  readonly isTrusted: boolean;
  /** Aborted when nobody waits for the page any more. */
  readonly signal: AbortSignal;
}

export interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Undefined: there is no such page. A rejection is answered with 500 and its sentence. */
export type Pages = (request: PageRequest) => Page | Promise<Page> | undefined;

/** Pages that are waited for at once. */
const maxWaiting = 256;

const text = "text/plain; charset=utf-8";

export class PlainAnswers {
  readonly #options: ResolvedOptions;
  readonly #challenges: Challenges;
  #waiting = 0;

  constructor(options: ResolvedOptions, challenges: Challenges) {
    this.#options = options;
    this.#challenges = challenges;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    response.setHeader("connection", "close");
    const asksForChallenge = headerOf(request.headers, challengeHeader) !== undefined;
    if (this.#options.secret !== undefined && asksForChallenge) {
      response.setHeader(challengeHeader, this.#challenges.give(performance.now()));
      end(response, sentence(401, "Prove that you know the shared secret."));
      return;
    }
    const url = new URL(request.url ?? "/", "http://node");
    if (url.pathname === "/") {
      response.setHeader("upgrade", "websocket");
      end(response, sentence(426, "This port speaks WebSocket: it is one of a Quorate node."));
    } else if (request.method !== "GET" && request.method !== "HEAD") {
      end(response, sentence(405, "Pages of a Quorate node are only read: GET them."));
    } else void this.#servePage(request, response, url);
  }

  async #servePage(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { pages } = this.#options;
    if (this.#waiting >= maxWaiting) {
      end(response, sentence(503, `This node has ${maxWaiting} pages waited for, and takes no more.`));
      return;
    }
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    this.#waiting += 1;
    try {
      const { pathname: path, searchParams: query } = url;
      const asked = { path, query, isTrusted: this.#isTrusted(request), signal: gone.signal };
      end(response, (await pages?.(asked)) ?? sentence(404, "There is no such page at this Quorate node."));
    } catch (error) {
      end(response, sentence(500, error instanceof Error ? error.message : String(error)));
    } finally {
      this.#waiting -= 1;
    }
  }

  /** In constant time. */
  #isTrusted(request: IncomingMessage): boolean {
    const { secret } = this.#options;
    if (secret === undefined) return true;
    const shown = Buffer.from(headerOf(request.headers, "authorization") ?? "");
    const expected = Buffer.from(`Bearer ${secret}`);
    return shown.length === expected.length && timingSafeEqual(shown, expected);
  }
}

function sentence(status: number, words: string): Page {
  return { status, contentType: text, body: `${words}\n` };
}

function end(response: ServerResponse, { status, contentType, body }: Page): void {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": contentType, "cache-control": "no-store" }).end(body);
}
