/** What a cluster object tells of itself as numbers: gathered when somebody asks, and as Prometheus reads it. */
import type { LossReason } from "../leaseLostError.ts";
import type { LeaseMetrics } from "./leaseCounts.ts";
import { type Metric, metricsText, type Sample } from "./metric.ts";
import { type RequestKind, type RequestMetrics, requestKinds } from "./requestCounts.ts";
import type { OverdueWork } from "./workRegister.ts";

export interface SessionMetrics {
  readonly id: number;
  readonly ttlMs: number;
  /** For how long its last confirmed renewal is good, as of now; 0: it may be over. */
  readonly remainingMs: number;
}

export interface ClusterMetrics {
  readonly requests: Readonly<Record<RequestKind, RequestMetrics>>;
  /** Requests that failed, by the error's code. */
  readonly failures: Readonly<Record<string, number>>;
  readonly connections: number;
  /** The endpoint of the node that writes go to; null where none is known. */
  readonly leaderEndpoint: string | null;
  readonly sessions: {
    readonly open: readonly SessionMetrics[];
    readonly opened: number;
    /** Those that the cluster ended. */
    readonly expired: number;
  };
  readonly leases: {
    readonly held: readonly LeaseMetrics[];
    readonly acquired: number;
    readonly jeopardies: number;
    /** By how they were lost, or `released`. */
    readonly ended: Readonly<Partial<Record<LossReason, number>>>;
  };
  /** Work that goes on after its lease was lost. */
  readonly overdueWork: readonly OverdueWork[];
}

/** In the exposition format 0.0.4, for a service's own page of metrics. */
export function prometheusText(metrics: ClusterMetrics): string {
  return metricsText(metricsOf(metrics));
}

/** More than these would make a page grow with the data. */
const maxListed = 1_000;

export function metricsOf(metrics: ClusterMetrics): readonly Metric[] {
  const { requests, failures, connections, leaderEndpoint, sessions, leases, overdueWork } = metrics;
  const each = (value: (one: RequestMetrics) => number): readonly Sample[] =>
    requestKinds.map((kind) => ({ labels: { kind }, value: value(requests[kind]) }));
  return [
    metric(
      "requests_answered_total",
      "counter",
      "Requests that were answered",
      each((one) => one.answered),
    ),
    metric(
      "requests_under_way",
      "gauge",
      "Requests without an answer yet",
      each((one) => one.underWay),
    ),
    metric(
      "retries_total",
      "counter",
      "Attempts after the first of a request",
      each((one) => one.retries),
    ),
    metric(
      "redirects_total",
      "counter",
      "Answers of nodes that did not lead",
      each((one) => one.redirects),
    ),
    metric(
      "request_failures_total",
      "counter",
      "Requests that failed, by the error's code",
      Object.entries(failures).map(([code, value]) => ({ labels: { code }, value })),
    ),
    latencies(requests),
    metric("connections", "gauge", "Connections to nodes", [{ value: connections }]),
    metric("knows_leader", "gauge", "1 where a leader is known", [
      { value: leaderEndpoint === null ? 0 : 1 },
    ]),
    metric("sessions_opened_total", "counter", "Sessions that were opened", [{ value: sessions.opened }]),
    metric("sessions_expired_total", "counter", "Sessions that the cluster ended", [
      { value: sessions.expired },
    ]),
    metric(
      "session_remaining_seconds",
      "gauge",
      "For how long the last confirmed renewal is good",
      sessions.open
        .slice(0, maxListed)
        .map(({ id, remainingMs }) => ({ labels: { session: String(id) }, value: remainingMs / 1_000 })),
    ),
    ...leaseMetrics(leases),
    metric("overdue_work", "gauge", "Work that goes on after its lease was lost", [
      { value: overdueWork.length },
    ]),
  ];
}

function latencies(requests: ClusterMetrics["requests"]): Metric {
  const samples = requestKinds.flatMap((kind): Sample[] => {
    const { answered, latency } = requests[kind];
    return [
      ...latency.buckets.map(
        ([boundMs, value]): Sample => ({
          suffix: "_bucket",
          labels: { kind, le: String(boundMs / 1_000) },
          value,
        }),
      ),
      { suffix: "_bucket", labels: { kind, le: "+Inf" }, value: answered },
      { suffix: "_sum", labels: { kind }, value: latency.sumMs / 1_000 },
      { suffix: "_count", labels: { kind }, value: answered },
    ];
  });
  return metric("request_seconds", "histogram", "From a call to its answer, retries included", samples);
}

function leaseMetrics({ held, acquired, jeopardies, ended }: ClusterMetrics["leases"]): readonly Metric[] {
  const each = (value: (lease: LeaseMetrics) => number | null): readonly Sample[] =>
    held.slice(0, maxListed).flatMap((lease) => {
      const found = value(lease);
      return found === null ? [] : [{ labels: { name: lease.name }, value: found }];
    });
  return [
    metric("leases_acquired_total", "counter", "Leases that came into this process's hands", [
      { value: acquired },
    ]),
    metric("lease_jeopardies_total", "counter", "Leases that came into danger", [{ value: jeopardies }]),
    metric(
      "leases_ended_total",
      "counter",
      "Leases that were released or lost here, by how",
      Object.entries(ended).map(([reason, value]) => ({ labels: { reason }, value })),
    ),
    metric(
      "lease_held_term",
      "gauge",
      "The term by which this process holds it",
      each(({ term }) => term),
    ),
    metric(
      "lease_held_seconds",
      "gauge",
      "For how long this process holds it",
      each(({ heldMs }) => heldMs / 1_000),
    ),
    metric(
      "lease_remaining_seconds",
      "gauge",
      "Until its deadline in this process",
      each(({ remainingMs }) => remainingMs / 1_000),
    ),
    metric(
      "lease_since_progress_seconds",
      "gauge",
      "Since its work last reported",
      each(({ sinceProgressMs }) => (sinceProgressMs === null ? null : sinceProgressMs / 1_000)),
    ),
  ];
}

function metric(name: string, kind: Metric["kind"], help: string, samples: readonly Sample[]): Metric {
  return { name: `client_${name}`, kind, help, samples };
}
