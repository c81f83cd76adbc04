/** Mouse, wheel and keys, turned into changes of the page's state. It draws nothing. */
import type { PageState } from "./pageState.ts";
import { element } from "./panel.ts";
import type { MessageGroup } from "./runIndex.ts";
import { msOf } from "./timeScale.ts";

export interface TimelineInputs {
  readonly state: PageState;
  readonly canvas: HTMLCanvasElement;
  clicked(x: number, y: number): void;
  hovered(x: number, y: number, event: PointerEvent): void;
  left(): void;
}

export function listenToTimeline({ state, canvas, clicked, hovered, left }: TimelineInputs): void {
  let pressed: { readonly x: number; lastX: number; isDrag: boolean } | undefined;
  canvas.addEventListener("pointerdown", (event) => {
    pressed = { x: event.offsetX, lastX: event.offsetX, isDrag: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (pressed === undefined) {
      hovered(event.offsetX, event.offsetY, event);
      return;
    }
    pressed.isDrag ||= Math.abs(event.offsetX - pressed.x) > 3;
    if (!pressed.isDrag) return;
    state.pan(msOf(state.scale, pressed.lastX) - msOf(state.scale, event.offsetX));
    pressed.lastX = event.offsetX;
    canvas.classList.add("dragged");
  });
  canvas.addEventListener("pointerup", (event) => {
    if (pressed !== undefined && !pressed.isDrag) clicked(event.offsetX, event.offsetY);
    pressed = undefined;
    canvas.classList.remove("dragged");
  });
  canvas.addEventListener("pointerleave", left);
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const perPixel = msOf(state.scale, 1) - msOf(state.scale, 0);
        state.pan(sideways * unit * perPixel);
      } else state.zoom(event.offsetX, 1.0016 ** (event.deltaY * unit));
    },
    { passive: false },
  );
}

/** The strip moves what is seen to where it is pressed or dragged. */
export function listenToOverview(state: PageState, canvas: HTMLCanvasElement): void {
  const go = (event: PointerEvent): void => {
    if (event.buttons === 0) return;
    const middle = (event.offsetX / canvas.clientWidth) * state.endMs;
    const half = (state.scale.toMs - state.scale.fromMs) / 2;
    state.show(middle - half, middle + half);
    state.moveCursor(middle);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    go(event);
  });
  canvas.addEventListener("pointermove", go);
}

export function listenToKeys(state: PageState): void {
  const actions: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
    ArrowRight: ({ shiftKey }) => state.step(1, shiftKey),
    ArrowLeft: ({ shiftKey }) => state.step(-1, shiftKey),
    "+": () => state.zoomAtCursor(0.6),
    "=": () => state.zoomAtCursor(0.6),
    "-": () => state.zoomAtCursor(1 / 0.6),
    "0": () => state.show(0, state.endMs),
    Home: () => jump(state, 0),
    End: () => jump(state, state.endMs),
    v: () => state.toViolation(),
  };
  document.addEventListener("keydown", (event) => {
    const action = actions[event.key];
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action(event);
  });
}

export function listenToButtons(state: PageState): void {
  const clicks: Readonly<Record<string, () => void>> = {
    previous: () => state.step(-1, false),
    next: () => state.step(1, false),
    "previous-turn": () => state.step(-1, true),
    "next-turn": () => state.step(1, true),
    nearer: () => state.zoomAtCursor(0.6),
    farther: () => state.zoomAtCursor(1 / 0.6),
    whole: () => state.show(0, state.endMs),
    violation: () => state.toViolation(),
  };
  for (const [id, click] of Object.entries(clicks)) element(id).addEventListener("click", click);
  for (const chip of document.querySelectorAll<HTMLElement>("[data-shows]")) {
    chip.addEventListener("click", () => {
      const isOn = state.toggle(chip.dataset.shows as MessageGroup | "commit" | "clients");
      chip.setAttribute("aria-pressed", String(isOn));
    });
  }
}

function jump(state: PageState, ms: number): void {
  const span = state.scale.toMs - state.scale.fromMs;
  state.show(ms - span / 2, ms + span / 2);
  state.moveCursor(ms);
}
