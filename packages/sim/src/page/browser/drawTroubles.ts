/**
 * What ails a node without taking it down, as strips at the bottom of its lane: paths from it that are clogged, clients
 * that it does not hear, a processor or a disk that is slow. Those of one time are stacked.
 */
import type { Trouble } from "./runIndex.ts";
import { type Scene, withAlpha, writeFitting } from "./scene.ts";
import { xOf } from "./timeScale.ts";

const stripHeight = 11;
const mostStacked = 3;

export function drawTroubles(scene: Scene, node: number): void {
  const { geometry, index, scale } = scene;
  const bottom = geometry.lanesTop + geometry.laneHeight * (node + 1) - 2;
  const untilMs: number[] = [];
  for (const trouble of index.troubles[node] ?? []) {
    const free = untilMs.findIndex((ms) => ms <= trouble.startMs);
    const line = Math.min(free < 0 ? untilMs.length : free, mostStacked - 1);
    untilMs[line] = trouble.endMs;
    if (trouble.endMs < scale.fromMs || trouble.startMs > scale.toMs) continue;
    drawStrip(scene, trouble, bottom - (line + 1) * stripHeight);
  }
}

function drawStrip({ context, geometry, palette, scale }: Scene, trouble: Trouble, top: number): void {
  const left = Math.max(geometry.gutter, xOf(scale, trouble.startMs));
  const width = Math.max(2, Math.min(geometry.width, xOf(scale, trouble.endMs)) - left);
  context.fillStyle = palette.trouble;
  context.beginPath();
  context.roundRect(left, top, width, stripHeight - 1, 2);
  withAlpha(context, 0.3, () => context.fill());
  context.fillStyle = palette.quiet;
  context.font = `10px ${palette.font}`;
  context.textBaseline = "middle";
  writeFitting(context, [trouble.words], left + 4, top + stripHeight / 2, width - 6);
}
