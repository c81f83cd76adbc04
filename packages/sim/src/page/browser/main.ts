/**
 * The page's beginning: reads the recording out of the document, draws it, and draws again when something changed,
 * once a frame at most. It must work from a file, without any network.
 */

import { drawGrounds, drawGutter, drawLanes } from "./drawLanes.ts";
import { drawCursor, drawFaults, drawTicks, drawViolations } from "./drawMarks.ts";
import { drawMessages, messageAt } from "./drawMessages.ts";
import { drawOperations, operationAt } from "./drawOperations.ts";
import { eventWords } from "./eventWords.ts";
import { listenToButtons, listenToKeys, listenToOverview, listenToTimeline } from "./inputs.ts";
import { drawOverview, drawWindow, type Strip } from "./overview.ts";
import { PageState } from "./pageState.ts";
import { type Palette, readPalette } from "./palette.ts";
import { element, showEvent, showState, showTip } from "./panel.ts";
import type { RunRecording } from "./recording.ts";
import { type RunEvent, RunIndex } from "./runIndex.ts";
import { geometryOf, type Scene } from "./scene.ts";
import { msOf } from "./timeScale.ts";

class Page {
  private readonly timeline = element("timeline") as HTMLCanvasElement;
  private readonly overview = element("overview") as HTMLCanvasElement;
  /** The strip without its window, drawn once for a size and a theme. */
  private readonly strip: HTMLCanvasElement = document.createElement("canvas");
  private readonly index: RunIndex;
  private readonly state: PageState;
  private palette: Palette = readPalette();
  private isDue = false;
  private hoverAt: readonly [x: number, y: number] | undefined;

  constructor(recording: RunRecording) {
    this.index = new RunIndex(recording);
    this.state = new PageState(this.index, () => this.schedule());
    new ResizeObserver(() => this.resized()).observe(this.timeline.parentElement as HTMLElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.resized());
    listenToTimeline({
      state: this.state,
      canvas: this.timeline,
      clicked: (x, y) => this.select(x, y),
      hovered: (x, y, { clientX, clientY }) => this.hover(x, y, clientX, clientY),
      left: () => showTip(undefined, 0, 0),
    });
    listenToOverview(this.state, this.overview);
    listenToKeys(this.state);
    listenToButtons(this.state);
    this.resized();
  }

  private schedule(): void {
    showTip(undefined, 0, 0);
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.draw();
    });
  }

  private resized(): void {
    this.palette = readPalette();
    matchScreen(this.timeline);
    matchScreen(this.overview);
    this.strip.width = this.overview.width;
    this.strip.height = this.overview.height;
    const context = contextOf(this.strip, this.overview.width / Math.max(1, this.overview.clientWidth));
    drawOverview(this.stripOf(context));
    this.state.resize(this.scene().geometry.gutter, this.timeline.clientWidth);
  }

  private draw(): void {
    const startedMs = performance.now();
    const scene = this.scene();
    const { context, geometry } = scene;
    context.clearRect(0, 0, geometry.width, geometry.height);
    drawGrounds(scene);
    drawTicks(scene);
    drawLanes(scene);
    const messages = drawMessages(scene);
    drawOperations(scene);
    drawFaults(scene);
    drawViolations(scene);
    drawCursor(scene);
    drawGutter(scene);
    const strip = contextOf(this.overview, ratioOf(this.overview));
    strip.clearRect(0, 0, this.overview.clientWidth, this.overview.clientHeight);
    strip.drawImage(this.strip, 0, 0, this.overview.clientWidth, this.overview.clientHeight);
    drawWindow(this.stripOf(strip), this.state.scale, this.state.cursorMs);
    showState(this.index, this.state.cursorMs);
    showEvent(this.index, this.state.selected, this.state.place());
    this.timeline.dataset.messages = String(messages);
    this.timeline.dataset.frameMs = (performance.now() - startedMs).toFixed(1);
  }

  private scene(): Scene {
    const { clientWidth, clientHeight } = this.timeline;
    const { recording, lineCount } = this.index;
    const { state } = this;
    return {
      context: contextOf(this.timeline, ratioOf(this.timeline)),
      index: this.index,
      scale: state.scale,
      geometry: geometryOf(
        clientWidth,
        clientHeight,
        recording.nodes.length,
        state.areClientsShown ? lineCount : 0,
      ),
      palette: this.palette,
      shown: state,
      cursorMs: state.cursorMs,
      selected: state.selected,
    };
  }

  private stripOf(context: CanvasRenderingContext2D): Strip {
    const { clientWidth, clientHeight } = this.overview;
    return { context, width: clientWidth, height: clientHeight, index: this.index, palette: this.palette };
  }

  private select(x: number, y: number): void {
    const event = this.eventAt(x, y);
    this.state.moveCursor(event?.atMs ?? msOf(this.state.scale, x), event);
  }

  /** Looks once a frame, however often the mouse moves. */
  private hover(x: number, y: number, clientX: number, clientY: number): void {
    const isLooking = this.hoverAt !== undefined;
    this.hoverAt = [x, y];
    if (isLooking) return;
    requestAnimationFrame(() => {
      const at = this.hoverAt;
      this.hoverAt = undefined;
      if (at === undefined) return;
      const event = this.eventAt(...at);
      this.timeline.classList.toggle("over", event !== undefined);
      showTip(event === undefined ? undefined : tipOf(this.index, event), clientX, clientY);
    });
  }

  private eventAt(x: number, y: number): RunEvent | undefined {
    const scene = this.scene();
    const { events, recording } = this.index;
    const fault = recording.faults.findIndex(
      ({ atMs }) => y < scene.geometry.lanesTop && Math.abs(xIn(scene, atMs) - x) < 6,
    );
    if (fault >= 0) return events.find((event) => event.kind === "fault" && event.row === fault);
    const operation = operationAt(scene, x, y);
    if (operation !== undefined) {
      return events.find((event) => event.kind === "asked" && event.row === operation);
    }
    const message = messageAt(scene, x, y);
    return message === undefined
      ? undefined
      : events.find((event) => event.kind === "sent" && event.row === message);
  }
}

function xIn({ scale }: Scene, ms: number): number {
  return scale.left + ((ms - scale.fromMs) / (scale.toMs - scale.fromMs)) * (scale.right - scale.left);
}

function tipOf(index: RunIndex, event: RunEvent): string {
  const { title, facts } = eventWords(index, event);
  return [title, ...facts.map(([name, value]) => `${name}: ${value}`)].join("\n");
}

function ratioOf(canvas: HTMLCanvasElement): number {
  return canvas.width / Math.max(1, canvas.clientWidth);
}

/** As many pixels as the screen has. */
function matchScreen(canvas: HTMLCanvasElement): void {
  canvas.width = Math.round(canvas.clientWidth * devicePixelRatio);
  canvas.height = Math.round(canvas.clientHeight * devicePixelRatio);
}

function contextOf(canvas: HTMLCanvasElement, ratio: number): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("This browser draws no canvas");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

new Page(JSON.parse(element("recording").textContent ?? "") as RunRecording);
document.documentElement.dataset.ready = String(Math.round(performance.now()));
