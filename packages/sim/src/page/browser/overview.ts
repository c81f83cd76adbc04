/** The whole run in a narrow strip: roles, what was done to it, violations, and a window on the part that is seen. */
import type { Palette } from "./palette.ts";
import type { RunIndex } from "./runIndex.ts";
import type { TimeScale } from "./timeScale.ts";

export interface Strip {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  readonly index: RunIndex;
  readonly palette: Palette;
}

/** The part that never changes while a page is open and its colours stay: drawn once, then copied. */
export function drawOverview({ context, width, height, index, palette }: Strip): void {
  const { recording } = index;
  const x = (ms: number): number => (ms / recording.endMs) * width;
  const each = (height - 6) / recording.nodes.length;
  context.clearRect(0, 0, width, height);
  context.fillStyle = palette.lane;
  context.fillRect(0, 0, width, height);
  for (const { startMs, endMs } of index.partitions) {
    context.fillStyle = palette.sides[1] as string;
    context.fillRect(x(startMs), 0, Math.max(1, x(endMs) - x(startMs)), height);
  }
  recording.nodes.forEach((_, node) => {
    const rows = (index.statesOf[node] ?? []).filter((row) => index.isTurn[row]);
    const top = 3 + each * node;
    rows.forEach((row, at) => {
      const next = rows[at + 1];
      const from = x(index.state(row, "atMs"));
      const until = x(next === undefined ? recording.endMs : index.state(next, "atMs"));
      context.fillStyle = palette.roles[index.roleAt(row)];
      context.fillRect(from, top + 0.5, Math.max(0.75, until - from), Math.max(1.5, each - 1));
    });
    context.fillStyle = palette.ground;
    for (const { startMs, endMs } of index.downs[node] ?? []) {
      context.fillRect(x(startMs), top, Math.max(1, x(endMs) - x(startMs)), each);
    }
  });
  context.fillStyle = palette.violation;
  for (const { atMs } of recording.violations) context.fillRect(x(atMs) - 1, 0, 3, height);
}

export function drawWindow(
  { context, width, height, index, palette }: Strip,
  scale: TimeScale,
  cursorMs: number,
): void {
  const { endMs } = index.recording;
  const x = (ms: number): number => (ms / endMs) * width;
  const [left, right] = [x(scale.fromMs), Math.max(x(scale.toMs), x(scale.fromMs) + 4)];
  context.globalAlpha = 0.62;
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, left, height);
  context.fillRect(right, 0, width - right, height);
  context.globalAlpha = 1;
  context.strokeStyle = palette.cursor;
  context.lineWidth = 1.5;
  context.beginPath();
  context.roundRect(left + 0.75, 0.75, Math.max(3, right - left - 1.5), height - 1.5, 4);
  context.stroke();
  context.fillStyle = palette.cursor;
  context.fillRect(x(cursorMs) - 0.5, 0, 1.5, height);
}
