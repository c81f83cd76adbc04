/** What lies over or beside the lanes: faults and partitions on top, violations, the cursor, and the time below. */
import { type Scene, withAlpha, writeFitting } from "./scene.ts";
import { ticksOf, tickWords, wordsOfMs, xOf } from "./timeScale.ts";

export function drawFaults(scene: Scene): void {
  const { context, index, geometry, palette, scale } = scene;
  const middle = geometry.faultsTop + 12;
  context.font = `600 11px ${palette.font}`;
  context.textBaseline = "middle";
  for (const { startMs, endMs, words } of index.partitions) {
    if (endMs < scale.fromMs || startMs > scale.toMs) continue;
    const x = Math.max(geometry.gutter, xOf(scale, startMs));
    const width = Math.max(3, Math.min(geometry.width, xOf(scale, endMs)) - x);
    context.fillStyle = palette.hatch;
    context.beginPath();
    context.roundRect(x, middle - 9, width, 18, 4);
    withAlpha(context, 0.28, () => context.fill());
    context.fillStyle = palette.text;
    writeFitting(context, [`partition  ${words}`, words, "partition"], x + 14, middle + 0.5, width - 20);
  }
  context.fillStyle = palette.hatch;
  let before = Number.NEGATIVE_INFINITY;
  for (const { atMs } of index.recording.faults) {
    const x = xOf(scale, atMs);
    if (x < geometry.gutter || x > geometry.width || x - before < 1) continue;
    before = x;
    context.beginPath();
    context.moveTo(x - 4, middle + 5);
    context.lineTo(x + 4, middle + 5);
    context.lineTo(x, middle + 12);
    context.closePath();
    context.fill();
  }
}

export function drawTicks({ context, geometry, palette, scale }: Scene): void {
  const { atMs, stepMs } = ticksOf(scale, 110);
  context.font = `11px ${palette.font}`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (const ms of atMs) {
    const x = Math.round(xOf(scale, ms)) + 0.5;
    context.fillStyle = palette.line;
    context.fillRect(x - 0.5, geometry.lanesTop, 1, geometry.axisTop - geometry.lanesTop);
    context.fillStyle = palette.quiet;
    if (x > geometry.gutter + 20 && x < geometry.width - 24)
      context.fillText(tickWords(ms, stepMs), x, geometry.axisTop + 14);
  }
  context.textAlign = "left";
}

export function drawViolations({ context, index, geometry, palette, scale }: Scene): void {
  context.font = `600 11px ${palette.font}`;
  for (const { atMs, invariant } of index.recording.violations) {
    const x = xOf(scale, atMs);
    if (x < geometry.gutter - 1 || x > geometry.width + 1) continue;
    context.fillStyle = palette.violation;
    context.fillRect(x - 1, geometry.lanesTop - 6, 2, geometry.axisTop - geometry.lanesTop + 6);
    const width = context.measureText(invariant).width + 24;
    const left = Math.min(Math.max(x - 1, geometry.gutter), geometry.width - width);
    context.beginPath();
    context.roundRect(left, geometry.faultsTop + 3, width, 20, 4);
    context.fill();
    context.fillStyle = palette.onBand;
    context.fillText(`✕  ${invariant}`, left + 6, geometry.faultsTop + 13.5);
  }
}

export function drawCursor({ context, geometry, palette, scale, cursorMs }: Scene): void {
  const x = xOf(scale, cursorMs);
  if (x < geometry.gutter || x > geometry.width) return;
  context.fillStyle = palette.cursor;
  context.fillRect(Math.round(x) - 0.5, geometry.lanesTop - 4, 1.5, geometry.axisTop - geometry.lanesTop + 4);
  const words = wordsOfMs(cursorMs);
  context.font = `600 11px ${palette.font}`;
  const width = context.measureText(words).width + 14;
  const left = Math.min(Math.max(x - width / 2, geometry.gutter), geometry.width - width);
  context.beginPath();
  context.roundRect(left, geometry.axisTop + 3, width, 20, 10);
  context.fill();
  context.fillStyle = palette.ground;
  context.fillText(words, left + 7, geometry.axisTop + 13.5);
}
