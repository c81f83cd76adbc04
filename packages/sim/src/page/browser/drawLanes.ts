/** The lanes of the nodes: bands of roles and terms, what was done to the node behind them, commit curves below. */
import { drawTroubles } from "./drawTroubles.ts";
import { lastAtOrBefore, type Span } from "./runIndex.ts";
import { bandTop, type Scene, withAlpha, writeFitting } from "./scene.ts";
import { xOf } from "./timeScale.ts";

/** What lies under everything: the lanes, and the sides of a partition. */
export function drawGrounds(scene: Scene): void {
  const { index, context, geometry, palette } = scene;
  const { lanesTop, laneHeight, gutter, width } = geometry;
  for (let node = 0; node < index.recording.nodes.length; node += 1) {
    const top = lanesTop + laneHeight * node;
    if (node % 2 === 0) {
      context.fillStyle = palette.lane;
      context.fillRect(gutter, top, width - gutter, laneHeight);
    }
    drawPartitionSides(scene, node, top);
  }
}

export function drawLanes(scene: Scene): void {
  const { index } = scene;
  for (let node = 0; node < index.recording.nodes.length; node += 1) {
    for (const span of index.pauses[node] ?? []) drawHatched(scene, span, node, "paused");
    if (scene.shown.isCommitShown) drawIndexes(scene, node);
    drawTroubles(scene, node);
    drawRoles(scene, node);
    for (const span of index.downs[node] ?? []) drawHatched(scene, span, node, "down");
  }
}

/** The nodes' names, over everything that scrolled under them. */
export function drawGutter(scene: Scene): void {
  const { index, context, geometry, palette, cursorMs } = scene;
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, geometry.gutter, geometry.height);
  context.fillStyle = palette.line;
  context.fillRect(geometry.gutter - 1, geometry.lanesTop, 1, geometry.axisTop - geometry.lanesTop);
  context.textBaseline = "middle";
  index.recording.nodes.forEach((name, node) => {
    const middle = bandTop(geometry, node) + geometry.bandHeight / 2;
    const row = index.stateAt(node, cursorMs);
    context.fillStyle = row === undefined ? palette.quiet : palette.text;
    context.font = `600 15px ${palette.font}`;
    context.fillText(name, 14, middle);
    context.font = `11px ${palette.font}`;
    context.fillStyle = palette.quiet;
    context.fillText(
      row === undefined ? index.absence(node, cursorMs) : `term ${index.state(row, "term")}`,
      32,
      middle + 0.5,
    );
  });
  if (scene.shown.areClientsShown && index.lineCount > 0) {
    context.fillText("clients", 14, geometry.clientsTop + geometry.lineHeight / 2);
  }
}

function drawPartitionSides(
  { index, context, scale, geometry, palette }: Scene,
  node: number,
  top: number,
): void {
  for (const { startMs, endMs, sides, touched } of index.partitions) {
    if (endMs < scale.fromMs || startMs > scale.toMs || !touched[node]) continue;
    const side = sides[node] ?? -1;
    context.fillStyle = palette.sides[side < 0 ? 1 : side % palette.sides.length] as string;
    const x = Math.max(geometry.gutter, xOf(scale, startMs));
    context.fillRect(x, top, Math.max(1, xOf(scale, endMs) - x), geometry.laneHeight);
  }
}

function drawRoles(scene: Scene, node: number): void {
  const { index, context, scale, geometry, palette } = scene;
  const rows = index.statesOf[node] ?? [];
  const { atMs } = index.recording.states;
  const at = (place: number): number => atMs[rows[place] as number] as number;
  const top = bandTop(geometry, node);
  context.font = `600 11px ${palette.font}`;
  context.textBaseline = "middle";
  let place = Math.max(0, lastAtOrBefore(rows.length, at, scale.fromMs));
  while (place < rows.length && at(place) <= scale.toMs) {
    const row = rows[place] as number;
    let next = place + 1;
    while (next < rows.length && !index.isTurn[rows[next] as number] && at(next) <= scale.toMs) next += 1;
    const from = at(place);
    const following = next < rows.length ? at(next) : index.recording.endMs;
    const until = index.endsAt(node, from, following);
    const x = Math.max(geometry.gutter, xOf(scale, from));
    const width = Math.min(geometry.width, xOf(scale, until)) - x;
    if (width > 0) drawRole(scene, row, x, top, Math.max(1, width));
    place = next;
  }
}

function drawRole(
  { index, context, geometry, palette }: Scene,
  row: number,
  x: number,
  top: number,
  width: number,
): void {
  const role = index.roleAt(row);
  const term = index.state(row, "term");
  const inset = role === "follower" ? 4 : 0;
  context.fillStyle = palette.roles[role];
  context.beginPath();
  const height = geometry.bandHeight - 2 * inset;
  context.roundRect(x, top + inset, width > 3 ? width - 1 : width, height, width > 8 ? 3 : 0);
  context.fill();
  if (width < 14 || role === "follower") return;
  context.fillStyle = palette.onBand;
  const words = role === "preCandidate" ? "pre-candidate" : role;
  const texts = [`${words} · term ${term}`, `${words} ${term}`, `${term}`];
  writeFitting(context, texts, x + 6, top + geometry.bandHeight / 2 + 0.5, width - 10);
}

/** Commit index as a line, the log's end above it as a shade: what lies between is not committed yet. */
function drawIndexes(scene: Scene, node: number): void {
  const { index, context, scale, geometry, palette } = scene;
  const rows = index.statesOf[node] ?? [];
  const { atMs, commit, last } = index.recording.states;
  const at = (place: number): number => atMs[rows[place] as number] as number;
  const top = bandTop(geometry, node) + geometry.bandHeight + 5;
  const height = Math.min(30, geometry.lanesTop + geometry.laneHeight * (node + 1) - top - 6);
  if (height < 8) return;
  const [low, high] = indexRange(scene);
  // After a restart a node knows of no commit for a while: that stays at the bottom.
  const share = (value: number): number => Math.min(1, Math.max(0, (value - low) / Math.max(1, high - low)));
  const y = (value: number): number => top + height * (1 - share(value));
  const first = Math.max(0, lastAtOrBefore(rows.length, at, scale.fromMs));
  const end = lastAtOrBefore(rows.length, at, scale.toMs);
  context.beginPath();
  const line = new Path2D();
  for (let place = first; place <= end; place += 1) {
    const row = rows[place] as number;
    const x = Math.max(geometry.gutter, xOf(scale, at(place)));
    const isLast = place === rows.length - 1;
    const nextMs = isLast ? index.recording.endMs : at(place + 1);
    const until = Math.min(geometry.width, xOf(scale, index.endsAt(node, at(place), nextMs)));
    const [committed, ended] = [y(commit[row] as number), y(last[row] as number)];
    if (ended < committed) context.rect(x, ended, until - x, committed - ended);
    if (place === first || index.endsAt(node, at(place - 1), at(place)) < at(place))
      line.moveTo(x, committed);
    line.lineTo(x, committed);
    line.lineTo(until, committed);
  }
  context.fillStyle = palette.tail;
  context.fill();
  context.strokeStyle = palette.commit;
  context.lineWidth = 1.25;
  context.stroke(line);
}

/** One range for all nodes, so that curves can be compared. */
function indexRange({ index, scale }: Scene): readonly [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  index.recording.nodes.forEach((_, node) => {
    const [first, last] = [index.stateAt(node, scale.fromMs), index.stateAt(node, scale.toMs)];
    if (first !== undefined) low = Math.min(low, index.state(first, "commit"));
    if (last !== undefined) high = Math.max(high, index.state(last, "last"));
  });
  return [Number.isFinite(low) ? low : 0, Math.max(high, 1)];
}

function drawHatched(scene: Scene, span: Span, node: number, words: string): void {
  const { context, scale, geometry, palette } = scene;
  if (span.endMs < scale.fromMs || span.startMs > scale.toMs) return;
  const left = Math.max(geometry.gutter, xOf(scale, span.startMs));
  const width = Math.max(2, Math.min(geometry.width, xOf(scale, span.endMs)) - left);
  const isDown = words === "down";
  const top = isDown ? bandTop(geometry, node) : geometry.lanesTop + geometry.laneHeight * node + 1;
  const height = isDown ? geometry.bandHeight : geometry.laneHeight - 2;
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.strokeStyle = palette.hatch;
  context.lineWidth = isDown ? 2 : 1;
  context.beginPath();
  const slope = isDown ? height : 0;
  for (let x = left - height - ((left - height) % 7); x < left + width; x += 7) {
    context.moveTo(x, top + height);
    context.lineTo(x + slope, top);
  }
  withAlpha(context, isDown ? 0.8 : 0.45, () => context.stroke());
  context.restore();
  context.strokeStyle = palette.hatch;
  context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
  context.font = `600 11px ${palette.font}`;
  const room = context.measureText(words).width + 12;
  if (width < room + 8) return;
  const y = isDown ? top + height / 2 : top + 10;
  context.fillStyle = palette.ground;
  context.fillRect(left + 5, y - 7, room, 14);
  context.fillStyle = palette.quiet;
  context.fillText(words, left + 11, y + 0.5);
}
