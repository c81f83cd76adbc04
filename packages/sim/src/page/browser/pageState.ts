/**
 * What the page shows, and every way to change it. It knows the run and neither canvas nor mouse.
 *
 * `changed` is called after each change; the page then draws once, at the next frame.
 */
import { groupOfKind, type MessageGroup, type RunEvent, type RunIndex } from "./runIndex.ts";
import { panned, type TimeScale, within, zoomed } from "./timeScale.ts";

export class PageState {
  readonly index: RunIndex;
  scale: TimeScale;
  cursorMs: number;
  selected: RunEvent | undefined;
  readonly groups: Set<MessageGroup> = new Set(["append", "vote", "preVote", "read"]);
  isCommitShown = true;
  areClientsShown = true;
  private readonly changed: () => void;
  private steppable: readonly RunEvent[] = [];

  constructor(index: RunIndex, changed: () => void) {
    this.index = index;
    this.changed = changed;
    const { endMs, cutBeforeMs = 0 } = index.recording;
    this.scale = {
      fromMs: cutBeforeMs,
      toMs: Math.max(1, Math.min(endMs, cutBeforeMs + 4_000)),
      left: 0,
      right: 1,
    };
    this.cursorMs = cutBeforeMs;
    this.filter();
    if (index.recording.violations.length > 0) this.toViolation();
    else {
      const first = index.events.find(({ kind, row }) => kind === "state" && index.roleAt(row) === "leader");
      if (first !== undefined) this.moveCursor(first.atMs, first);
    }
  }

  /** A little after the end, so that what ended the run is not at the very edge. */
  get endMs(): number {
    const { endMs } = this.index.recording;
    return Math.max(1, endMs + Math.min(endMs * 0.02, 100));
  }

  place(): string {
    const at = this.selected === undefined ? -1 : this.steppable.indexOf(this.selected);
    const of = this.steppable.length.toLocaleString("en");
    return at < 0 ? `${of} events` : `${(at + 1).toLocaleString("en")} of ${of}`;
  }

  resize(left: number, right: number): void {
    this.scale = { ...this.scale, left, right };
    this.changed();
  }

  zoom(x: number, factor: number): void {
    this.scale = zoomed(this.scale, x, factor, this.endMs);
    this.changed();
  }

  zoomAtCursor(factor: number): void {
    const { fromMs, toMs, left, right } = this.scale;
    const share = (this.cursorMs - fromMs) / (toMs - fromMs);
    this.zoom(left + (share > 0 && share < 1 ? share : 0.5) * (right - left), factor);
  }

  pan(byMs: number): void {
    this.scale = panned(this.scale, byMs, this.endMs);
    this.changed();
  }

  show(fromMs: number, toMs: number): void {
    this.scale = within(this.scale, fromMs, toMs, this.endMs);
    this.changed();
  }

  moveCursor(ms: number, selected?: RunEvent): void {
    this.cursorMs = Math.min(Math.max(0, ms), this.endMs);
    this.selected = selected;
    this.changed();
  }

  /** To the next (1) or previous (-1) event that is shown; `isTurn`: of a role, a term, a fault. */
  step(direction: 1 | -1, isTurn: boolean): void {
    const events = isTurn ? this.steppable.filter(({ kind }) => turnKinds.has(kind)) : this.steppable;
    const current = this.selected === undefined ? -1 : events.indexOf(this.selected);
    const forwards = (): number => events.findIndex(({ atMs }) => atMs > this.cursorMs);
    const backwards = (): number => events.findLastIndex(({ atMs }) => atMs < this.cursorMs);
    const at = current >= 0 ? current + direction : direction > 0 ? forwards() : backwards();
    const event = events[at];
    if (event === undefined) return;
    this.keepInView(event.atMs);
    this.moveCursor(event.atMs, event);
  }

  toViolation(): void {
    const violations = this.steppable.filter(({ kind }) => kind === "violation");
    const violation = violations.find(({ atMs }) => atMs > this.cursorMs) ?? violations[0];
    if (violation === undefined) return;
    this.show(violation.atMs - 700, violation.atMs + 100);
    this.moveCursor(violation.atMs, violation);
  }

  toggle(what: MessageGroup | "commit" | "clients"): boolean {
    let isOn = false;
    if (what === "commit") {
      this.isCommitShown = !this.isCommitShown;
      isOn = this.isCommitShown;
    } else if (what === "clients") {
      this.areClientsShown = !this.areClientsShown;
      isOn = this.areClientsShown;
    } else {
      isOn = !this.groups.delete(what);
      if (isOn) this.groups.add(what);
    }
    this.filter();
    this.changed();
    return isOn;
  }

  private filter(): void {
    const { kind } = this.index.recording.messages;
    this.steppable = this.index.events.filter((event) => {
      if (event.kind === "sent" || event.kind === "arrived") {
        return this.groups.has(groupOfKind(kind[event.row] as number));
      }
      return this.areClientsShown || (event.kind !== "asked" && event.kind !== "answered");
    });
  }

  private keepInView(ms: number): void {
    const { fromMs, toMs } = this.scale;
    const span = toMs - fromMs;
    if (ms < fromMs + span * 0.02 || ms > toMs - span * 0.02) this.show(ms - span / 2, ms + span / 2);
  }
}

const turnKinds: ReadonlySet<RunEvent["kind"]> = new Set(["state", "fault", "violation", "began", "ended"]);
