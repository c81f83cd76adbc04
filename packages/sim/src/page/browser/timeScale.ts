/**
 * From virtual time to pixels and back, and what may be done to the part of the run that is seen.
 *
 * Pure: a scale is a value. It never leaves the run, and never shows less than a quarter of a millisecond.
 */
export interface TimeScale {
  readonly fromMs: number;
  readonly toMs: number;
  /** Where time begins and ends on the canvas, in CSS pixels. */
  readonly left: number;
  readonly right: number;
}

const minSpanMs = 0.25;

export function xOf(scale: TimeScale, ms: number): number {
  return scale.left + ((ms - scale.fromMs) / (scale.toMs - scale.fromMs)) * (scale.right - scale.left);
}

export function msOf(scale: TimeScale, x: number): number {
  return scale.fromMs + ((x - scale.left) / (scale.right - scale.left)) * (scale.toMs - scale.fromMs);
}

export function within(scale: TimeScale, fromMs: number, toMs: number, endMs: number): TimeScale {
  const spanMs = Math.min(Math.max(toMs - fromMs, minSpanMs), endMs);
  const start = Math.min(Math.max(fromMs, 0), endMs - spanMs);
  return { ...scale, fromMs: start, toMs: start + spanMs };
}

/** `factor` below 1 comes nearer; what lies at `x` stays there. */
export function zoomed(scale: TimeScale, x: number, factor: number, endMs: number): TimeScale {
  const around = msOf(scale, x);
  const spanMs = Math.min(Math.max((scale.toMs - scale.fromMs) * factor, minSpanMs), endMs);
  const share = (around - scale.fromMs) / (scale.toMs - scale.fromMs);
  const fromMs = around - share * spanMs;
  return within(scale, fromMs, fromMs + spanMs, endMs);
}

export function panned(scale: TimeScale, byMs: number, endMs: number): TimeScale {
  return within(scale, scale.fromMs + byMs, scale.toMs + byMs, endMs);
}

/** Round times about `gap` pixels apart. */
export function ticksOf(
  scale: TimeScale,
  gap: number,
): { readonly atMs: readonly number[]; readonly stepMs: number } {
  const wanted = ((scale.toMs - scale.fromMs) * gap) / (scale.right - scale.left);
  const magnitude = 10 ** Math.floor(Math.log10(wanted));
  const stepMs = ([1, 2, 5].find((one) => one * magnitude >= wanted) ?? 10) * magnitude;
  const atMs: number[] = [];
  for (let tick = Math.ceil(scale.fromMs / stepMs); tick * stepMs <= scale.toMs; tick += 1) {
    atMs.push(tick * stepMs);
  }
  return { atMs, stepMs };
}

/** `3,214.125 ms`. */
export function wordsOfMs(ms: number): string {
  return `${ms.toLocaleString("en", { maximumFractionDigits: 3 })} ms`;
}

/** As short as the step between two ticks allows. */
export function tickWords(ms: number, stepMs: number): string {
  if (ms === 0) return "0";
  const digits = (unit: number): number => Math.max(0, Math.ceil(-Math.log10(stepMs / unit) - 1e-9));
  return ms >= 1_000 || stepMs >= 1_000
    ? `${(ms / 1_000).toFixed(Math.min(6, digits(1_000)))} s`
    : `${ms.toFixed(Math.min(3, digits(1)))} ms`;
}
