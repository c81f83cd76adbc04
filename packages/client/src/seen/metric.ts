/**
 * Metrics as plain data, and as the text that Prometheus reads (its exposition format, version 0.0.4).
 */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** Of a histogram: which of its series. */
  readonly suffix?: "_bucket" | "_sum" | "_count";
}

export interface Metric {
  /** Without the prefix that all of them have. */
  readonly name: string;
  readonly kind: "gauge" | "counter" | "histogram";
  readonly help: string;
  readonly samples: readonly Sample[];
}

export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

export function metricsText(metrics: readonly Metric[]): string {
  return metrics.map(metricText).join("");
}

function metricText({ name, kind, help, samples }: Metric): string {
  const full = name.startsWith("leader_election_") ? name : `quorate_${name}`;
  const lines = samples.map(
    ({ labels = {}, value, suffix = "" }) => `${full}${suffix}${labelsText(labels)} ${value}\n`,
  );
  return `# HELP ${full} ${help}\n# TYPE ${full} ${kind}\n${lines.join("")}`;
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

function escaped(value: string): string {
  return value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");
}
