/**
 * What every drawing function gets: where things are, what is shown, and in which colours. A value per frame.
 *
 *   faults     ▼ partition a b ∣ c d e
 *   node a     band of roles, commit curve below          ┐
 *   …          arrows between the bands                    │ lanes
 *   node e                                                ┘
 *   clients    a line per operation under way
 *   time       ticks
 */
import type { Palette } from "./palette.ts";
import type { MessageGroup, RunEvent, RunIndex } from "./runIndex.ts";
import type { TimeScale } from "./timeScale.ts";

export interface Geometry {
  readonly width: number;
  readonly height: number;
  readonly gutter: number;
  readonly faultsTop: number;
  readonly lanesTop: number;
  readonly laneHeight: number;
  readonly bandHeight: number;
  readonly clientsTop: number;
  readonly lineHeight: number;
  readonly axisTop: number;
}

export interface Shown {
  readonly groups: ReadonlySet<MessageGroup>;
  readonly isCommitShown: boolean;
  readonly areClientsShown: boolean;
}

export interface Scene {
  readonly context: CanvasRenderingContext2D;
  readonly index: RunIndex;
  readonly scale: TimeScale;
  readonly geometry: Geometry;
  readonly palette: Palette;
  readonly shown: Shown;
  readonly cursorMs: number;
  readonly selected: RunEvent | undefined;
}

export function geometryOf(width: number, height: number, nodes: number, lines: number): Geometry {
  const axisHeight = 26;
  const faultsTop = 4;
  const lanesTop = 34;
  const lineHeight = 11;
  const clients = lines === 0 ? 0 : Math.min(lines, 10) * lineHeight + 20;
  const laneHeight = Math.max(56, (height - lanesTop - axisHeight - clients) / Math.max(1, nodes));
  const clientsTop = lanesTop + laneHeight * nodes + 12;
  return {
    width,
    height,
    gutter: 74,
    faultsTop,
    lanesTop,
    laneHeight,
    bandHeight: 18,
    clientsTop,
    lineHeight,
    axisTop: height - axisHeight,
  };
}

/** The top of the band of roles of a node; messages leave from and arrive at its edges. */
export function bandTop({ lanesTop, laneHeight, bandHeight }: Geometry, node: number): number {
  return lanesTop + laneHeight * node + Math.max(6, (laneHeight - bandHeight - 24) / 2);
}

/** Where an arrow from `from` to `to` starts and ends. */
export function arrowYs(geometry: Geometry, from: number, to: number): readonly [number, number] {
  const isDown = to > from;
  const { bandHeight } = geometry;
  return [
    bandTop(geometry, from) + (isDown ? bandHeight : 0),
    bandTop(geometry, to) + (isDown ? 0 : bandHeight),
  ];
}

export function withAlpha(context: CanvasRenderingContext2D, alpha: number, draw: () => void): void {
  const before = context.globalAlpha;
  context.globalAlpha = before * alpha;
  draw();
  context.globalAlpha = before;
}

/** Writes as much of the text as fits, or nothing. */
export function writeFitting(
  context: CanvasRenderingContext2D,
  texts: readonly string[],
  x: number,
  y: number,
  room: number,
): void {
  const fitting = texts.find((text) => context.measureText(text).width <= room);
  if (fitting !== undefined) context.fillText(fitting, x, y);
}
