/** What became of the requests of a cluster object, counted as it happens: how many, how long, how often again. */
import { type RequestBody, unreachable } from "../protocol/index.ts";

/** `write`: commands. `renewal`: signs of life of sessions. `admin`: about the cluster itself. */
export type RequestKind = "write" | "read" | "renewal" | "admin";

export interface RequestMetrics {
  readonly answered: number;
  /** Without an answer, or refused. */
  readonly failed: number;
  readonly underWay: number;
  /** Attempts after the first one of a request. */
  readonly retries: number;
  /** Answers of nodes that did not lead. */
  readonly redirects: number;
  /** Of those that were answered, from the call to its answer, retries included. */
  readonly latency: Latency;
}

export interface Latency {
  readonly sumMs: number;
  readonly maxMs: number;
  /** `[ms, how many took at most so long]`. */
  readonly buckets: readonly (readonly [number, number])[];
}

export const requestKinds: readonly RequestKind[] = ["write", "read", "renewal", "admin"];
const boundsMs: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

class Counter {
  answered = 0;
  failed = 0;
  underWay = 0;
  retries = 0;
  redirects = 0;
  sumMs = 0;
  maxMs = 0;
  /** How many took longer than the bound before, and at most this one. */
  readonly byBound: number[] = boundsMs.map(() => 0);

  note(tookMs: number): void {
    this.answered += 1;
    this.sumMs += tookMs;
    this.maxMs = Math.max(this.maxMs, tookMs);
    const at = boundsMs.findIndex((boundMs) => tookMs <= boundMs);
    if (at >= 0) this.byBound[at] = (this.byBound[at] ?? 0) + 1;
  }

  read(): RequestMetrics {
    const { answered, failed, underWay, retries, redirects, sumMs, maxMs } = this;
    let sum = 0;
    const buckets = boundsMs.map((boundMs, at) => {
      sum += this.byBound[at] ?? 0;
      return [boundMs, sum] as const;
    });
    return { answered, failed, underWay, retries, redirects, latency: { sumMs, maxMs, buckets } };
  }
}

export class RequestCounts {
  readonly #counters: Readonly<Record<RequestKind, Counter>> = {
    write: new Counter(),
    read: new Counter(),
    renewal: new Counter(),
    admin: new Counter(),
  };
  readonly #failures: Map<string, number> = new Map();

  /** Undefined: it waits for something to happen, which says nothing about the cluster. */
  of(body: RequestBody): Counter | undefined {
    const kind = kindOf(body.kind);
    return kind === undefined ? undefined : this.#counters[kind];
  }

  failed(counter: Counter | undefined, code: string): void {
    if (counter === undefined) return;
    counter.failed += 1;
    this.#failures.set(code, (this.#failures.get(code) ?? 0) + 1);
  }

  read(): Readonly<Record<RequestKind, RequestMetrics>> {
    const { write, read, renewal, admin } = this.#counters;
    return { write: write.read(), read: read.read(), renewal: renewal.read(), admin: admin.read() };
  }

  /** By the error's code. */
  get failures(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#failures);
  }
}

export type RequestCounter = Counter;

function kindOf(kind: RequestBody["kind"]): RequestKind | undefined {
  switch (kind) {
    case "execute":
      return "write";
    case "get":
    case "list":
    case "getLease":
    case "leaseHistory":
    case "listCandidates":
    case "listLeases":
    case "listSessions":
      return "read";
    case "keepAlive":
    case "renew":
    case "renewAll":
      return "renewal";
    case "status":
    case "transfer":
    case "listMembers":
    case "changeMembers":
    case "joinCluster":
    case "takeSnapshot":
    case "snapshotPart":
      return "admin";
    case "awaitSession":
    case "awaitLease":
    case "watch":
    case "watchCredit":
    case "unwatch":
      return undefined;
    default:
      return unreachable(kind);
  }
}
