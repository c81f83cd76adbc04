/**
 * The pages of a node, on the port where peers and clients connect: whether it lives, whether it serves, and what it
 * can be watched by. Made when somebody asks; until the node runs, every page says that it starts.
 *
 *     /healthz   the process serves                  for whoever would restart it
 *     /readyz    requests are served from here       for whoever would send it some
 *     /metrics   for Prometheus
 *     /v1/watch  changes of keys, waited for (watchPage.ts)
 *
 * The last two ask for the shared secret where there is one.
 */
import { metricsText, metricsType } from "@quorate/client/internal";
import type { NodeStatus } from "@quorate/raft";
import type { Page, PageRequest } from "@quorate/transport";
import { type MetricSources, NodeMetrics } from "./nodeMetrics.ts";
import { type WatchPageSources, watchPage } from "./watchPage.ts";

/** Entries that a node may be behind the commit index and still count as ready. */
const maxLag = 10_000;

type PageSources = MetricSources & WatchPageSources;

interface Opened {
  readonly sources: PageSources;
  readonly metrics: NodeMetrics;
}

export class NodePages {
  #node: Opened | undefined;

  /** From now on, of this node. */
  open(sources: PageSources): void {
    this.#node = { sources, metrics: new NodeMetrics(sources) };
  }

  answer(request: PageRequest): Page | Promise<Page> | undefined {
    switch (request.path) {
      case "/healthz":
        return this.#health(() => undefined);
      case "/readyz":
        return this.#health(whyNotReady);
      case "/metrics":
        return this.#trusted(request, ({ metrics }) => ({
          status: 200,
          contentType: metricsType,
          body: metricsText(metrics.gather()),
        }));
      case "/v1/watch":
        return this.#trusted(request, ({ sources }) => watchPage(sources, request));
      default:
        return undefined;
    }
  }

  #health(why: (status: NodeStatus) => string | undefined): Page {
    if (this.#node === undefined) return words(503, "This node is starting.");
    const status = this.#node.sources.raft.status();
    const reason = status.standing === "closed" ? "This node is closed." : why(status);
    return reason === undefined ? words(200, "ok") : words(503, reason);
  }

  #trusted<T>({ isTrusted }: PageRequest, page: (node: Opened) => T): T | Page {
    if (!isTrusted) {
      return words(401, "This is for those who know the shared secret: authorization: Bearer SECRET.");
    }
    return this.#node === undefined ? words(503, "This node is starting.") : page(this.#node);
  }
}

function whyNotReady(status: NodeStatus): string | undefined {
  if (status.waitsFor !== undefined) return status.waitsFor;
  if (status.leader === undefined) return "This node knows no leader.";
  if (status.isBehind) return "This node is being sent a snapshot.";
  const lag = status.commitIndex - status.appliedIndex;
  return lag > maxLag ? `This node has ${lag} committed entries still to apply.` : undefined;
}

function words(status: number, sentence: string): Page {
  return { status, contentType: "text/plain; charset=utf-8", body: `${sentence}\n` };
}
