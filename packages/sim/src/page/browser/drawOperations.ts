/** The operations of clients: a bar from asking to answer in the colour of its outcome; reads are hollow. */
import { operationKinds, outcomes } from "./recording.ts";
import { lastAtOrBefore } from "./runIndex.ts";
import type { Scene } from "./scene.ts";
import { xOf } from "./timeScale.ts";

interface Bar {
  readonly row: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Operations are bounded by their timeouts; older ones than this are not looked for at the left edge. */
const longestMs = 10_000;

export function drawOperations(scene: Scene): void {
  if (!scene.shown.areClientsShown) return;
  const { context, index, palette, geometry, selected } = scene;
  const read = operationKinds.indexOf("read");
  for (const { row, x, y, width } of barsOf(scene)) {
    const color = palette.outcomes[outcomes[index.operation(row, "outcome")] ?? "open"];
    const isSelected = (selected?.kind === "asked" || selected?.kind === "answered") && selected.row === row;
    context.fillStyle = color;
    context.strokeStyle = color;
    context.lineWidth = isSelected ? 2.5 : 1.25;
    const height = geometry.lineHeight - 4;
    const isOpen = outcomes[index.operation(row, "outcome")] === "open";
    if (isOpen) context.setLineDash([3, 3]);
    if (index.operation(row, "kind") === read || isOpen) {
      context.strokeRect(x + 0.5, y + 0.5, Math.max(1, width - 1), height - 1);
    } else context.fillRect(x, y, width, height);
    if (isSelected) context.strokeRect(x - 2, y - 2, width + 4, height + 4);
    context.setLineDash([]);
  }
}

export function operationAt(scene: Scene, x: number, y: number): number | undefined {
  if (!scene.shown.areClientsShown) return undefined;
  const { lineHeight } = scene.geometry;
  return barsOf(scene).find(
    (bar) => x >= bar.x - 2 && x <= bar.x + bar.width + 2 && y >= bar.y - 2 && y <= bar.y + lineHeight,
  )?.row;
}

function barsOf({ index, scale, geometry }: Scene): Bar[] {
  const { startMs, endMs } = index.recording.operations;
  const bars: Bar[] = [];
  const rightmost = new Map<number, number>();
  const first = lastAtOrBefore(startMs.length, (at) => startMs[at] as number, scale.fromMs - longestMs);
  for (
    let row = Math.max(0, first);
    row < startMs.length && (startMs[row] as number) <= scale.toMs;
    row += 1
  ) {
    const ended = endMs[row] as number;
    const until = ended < 0 ? Math.min(index.recording.endMs, (startMs[row] as number) + 500) : ended;
    if (until < scale.fromMs) continue;
    const line = index.operationLines[row] ?? 0;
    const x = Math.max(geometry.gutter, xOf(scale, startMs[row] as number));
    const width = Math.max(2, Math.min(geometry.width, xOf(scale, until)) - x);
    // What would lie wholly on what is drawn already is left out.
    if (x + width <= (rightmost.get(line) ?? 0)) continue;
    rightmost.set(line, x + width);
    bars.push({ row, x, y: geometry.clientsTop + line * geometry.lineHeight + 2, width });
  }
  return bars;
}
