/** The panel beside the timeline: every node at the cursor's time, and the event that is selected. */
import { eventWords } from "./eventWords.ts";
import type { RunEvent, RunIndex } from "./runIndex.ts";
import { wordsOfMs } from "./timeScale.ts";

export function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element ${id}`);
  return found;
}

export function made(tag: string, text: string, className = ""): HTMLElement {
  const one = document.createElement(tag);
  one.textContent = text;
  if (className !== "") one.className = className;
  return one;
}

export function showState(index: RunIndex, cursorMs: number): void {
  element("cursor-time").textContent = wordsOfMs(cursorMs);
  const rows = index.recording.nodes.map((name, node) => {
    const line = document.createElement("tr");
    line.append(made("th", name));
    const row = index.stateAt(node, cursorMs);
    if (row === undefined) {
      const cell = made("td", index.absence(node, cursorMs), "role down");
      cell.setAttribute("colspan", "6");
      line.append(cell);
      return line;
    }
    const role = index.roleAt(row);
    const isPaused = index.isDuring(index.pauses[node], cursorMs);
    const words = role === "preCandidate" ? "pre-cand." : role;
    line.append(made("td", isPaused ? `${words}, paused` : words, `role ${role}`));
    const vote = index.state(row, "vote");
    line.append(made("td", String(index.state(row, "term"))), made("td", vote < 0 ? "–" : index.name(vote)));
    for (const column of ["commit", "applied", "last"] as const) {
      line.append(made("td", String(index.state(row, column))));
    }
    return line;
  });
  element("state").replaceChildren(...rows);
}

export function showEvent(index: RunIndex, event: RunEvent | undefined, place: string): void {
  const box = element("event");
  element("event-place").textContent = place;
  if (event === undefined) {
    box.replaceChildren(made("p", "Click an arrow or a bar, or step with ← and →.", "quiet"));
    return;
  }
  const { title, facts } = eventWords(index, event);
  const list = document.createElement("dl");
  for (const [name, value] of facts) list.append(made("dt", name), made("dd", value));
  box.replaceChildren(made("h3", title), list);
}

export function showTip(text: string | undefined, x: number, y: number): void {
  const tip = element("tip");
  tip.hidden = text === undefined;
  if (text === undefined) return;
  tip.textContent = text;
  const width = tip.offsetWidth;
  tip.style.left = `${Math.min(x + 14, globalThis.innerWidth - width - 12)}px`;
  tip.style.top = `${y + 16}px`;
}
