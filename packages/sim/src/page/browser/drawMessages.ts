/**
 * Messages as arrows from the band of the sender to that of the receiver, and which of them lies under the mouse.
 *
 * Only what is in view is drawn, and of those that would fall on the same pixels only one: a frame costs about as much
 * for 200,000 messages as for 2,000.
 */
import { lastAtOrBefore } from "./runIndex.ts";
import { arrowYs, type Scene } from "./scene.ts";
import { xOf } from "./timeScale.ts";

interface Arrow {
  readonly row: number;
  readonly isLost: boolean;
  readonly x: number;
  readonly y: number;
  readonly toX: number;
  readonly toY: number;
}

/** With more arrows than this, heads and dashes cannot be told apart any more and are left out. */
const crowd = 1_500;

/** How many arrows were drawn. */
export function drawMessages(scene: Scene): number {
  const { context, palette, selected } = scene;
  const arrows = arrowsOf(scene);
  const density = Math.min(1, 320 / Math.max(1, arrows.length));
  const isCrowded = arrows.length > crowd;
  context.lineWidth = isCrowded ? 0.75 : 1.25;
  for (const group of ["heartbeat", "read", "append", "preVote", "vote"] as const) {
    const ofGroup = arrows.filter((arrow) => scene.index.groupOf(arrow.row) === group);
    context.globalAlpha =
      group === "heartbeat" ? Math.max(0.15, density * 0.6) : Math.max(0.28, density * 0.9);
    context.strokeStyle = palette.groups[group];
    context.fillStyle = palette.groups[group];
    const arrived = ofGroup.filter(({ isLost }) => !isLost);
    const lost = ofGroup.filter(({ isLost }) => isLost);
    strokeArrows(scene, arrived, !isCrowded);
    strokeLost(scene, lost, !isCrowded);
  }
  context.globalAlpha = 1;
  if (selected?.kind === "sent" || selected?.kind === "arrived") {
    const arrow = arrowOf(scene, selected.row);
    context.lineWidth = 3;
    context.strokeStyle = arrow.isLost ? palette.lost : palette.groups[scene.index.groupOf(arrow.row)];
    context.fillStyle = context.strokeStyle;
    if (arrow.isLost) strokeLost(scene, [arrow], true);
    else strokeArrows(scene, [arrow], true);
  }
  return arrows.length;
}

/** The message within a few pixels of a point. */
export function messageAt(scene: Scene, x: number, y: number): number | undefined {
  let nearest: number | undefined;
  let distance = 6;
  for (const arrow of arrowsOf(scene)) {
    const away = distanceTo(arrow, x, y);
    if (away >= distance) continue;
    nearest = arrow.row;
    distance = away;
  }
  return nearest;
}

function arrowsOf(scene: Scene): Arrow[] {
  const { index, scale, shown, geometry } = scene;
  const { sentMs, arrivedMs, from, to } = index.recording.messages;
  const nodes = index.recording.nodes.length;
  const taken = new Set<number>();
  const arrows: Arrow[] = [];
  const sentAt = (at: number): number => sentMs[at] as number;
  const count =
    lastAtOrBefore(sentMs.length, sentAt, scale.toMs) - lastAtOrBefore(sentMs.length, sentAt, scale.fromMs);
  const grain = count > 2 * crowd ? 3 : 1;
  const first = lastAtOrBefore(sentMs.length, sentAt, scale.fromMs - index.longestFlightMs);
  for (let row = Math.max(0, first); row < sentMs.length && (sentMs[row] as number) <= scale.toMs; row += 1) {
    const endMs = Math.max(arrivedMs[row] as number, (sentMs[row] as number) + index.usualFlightMs);
    if (endMs < scale.fromMs || !shown.groups.has(index.groupOf(row))) continue;
    const arrow = arrowOf(scene, row);
    const pair = (from[row] as number) * nodes + (to[row] as number);
    const pixel = Math.round(arrow.x / grain) * geometry.width + Math.round(arrow.toX / grain);
    const key = (pixel * nodes * nodes + pair) * 2 + (arrow.isLost ? 1 : 0);
    if (taken.has(key)) continue;
    taken.add(key);
    arrows.push(arrow);
  }
  return arrows;
}

function arrowOf({ index, scale, geometry }: Scene, row: number): Arrow {
  const sentMs = index.message(row, "sentMs");
  const arrivedMs = index.message(row, "arrivedMs");
  const [y, toY] = arrowYs(geometry, index.message(row, "from"), index.message(row, "to"));
  const isLost = arrivedMs < 0;
  const x = xOf(scale, sentMs);
  if (!isLost) return { row, isLost, x, y, toX: xOf(scale, arrivedMs), toY };
  const share = 0.42;
  const toX = xOf(scale, sentMs + index.usualFlightMs * share);
  return { row, isLost, x, y, toX, toY: y + (toY - y) * share };
}

function strokeArrows({ context }: Scene, arrows: readonly Arrow[], hasHeads: boolean): void {
  const heads = new Path2D();
  context.beginPath();
  for (const { x, y, toX, toY } of arrows) {
    context.moveTo(x, y);
    context.lineTo(toX, toY);
    if (!hasHeads) continue;
    const length = Math.hypot(toX - x, toY - y) || 1;
    const [alongX, alongY] = [(toX - x) / length, (toY - y) / length];
    heads.moveTo(toX, toY);
    heads.lineTo(toX - alongX * 7 - alongY * 3, toY - alongY * 7 + alongX * 3);
    heads.lineTo(toX - alongX * 7 + alongY * 3, toY - alongY * 7 - alongX * 3);
    heads.closePath();
  }
  context.stroke();
  context.fill(heads);
}

/** Dashed, and ending in a cross on the way. */
function strokeLost({ context, palette }: Scene, arrows: readonly Arrow[], isDashed: boolean): void {
  if (arrows.length === 0) return;
  if (isDashed) context.setLineDash([4, 3]);
  context.beginPath();
  for (const { x, y, toX, toY } of arrows) {
    context.moveTo(x, y);
    context.lineTo(toX, toY);
  }
  context.stroke();
  context.setLineDash([]);
  context.strokeStyle = palette.lost;
  context.beginPath();
  for (const { toX, toY } of arrows) {
    context.moveTo(toX - 3, toY - 3);
    context.lineTo(toX + 3, toY + 3);
    context.moveTo(toX + 3, toY - 3);
    context.lineTo(toX - 3, toY + 3);
  }
  context.stroke();
}

function distanceTo({ x, y, toX, toY }: Arrow, atX: number, atY: number): number {
  const squared = (toX - x) ** 2 + (toY - y) ** 2 || 1;
  const share = Math.min(1, Math.max(0, ((atX - x) * (toX - x) + (atY - y) * (toY - y)) / squared));
  return Math.hypot(atX - (x + share * (toX - x)), atY - (y + share * (toY - y)));
}
