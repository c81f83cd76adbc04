/**
 * What happened, drawn as text: a line a scheduler that shows who held which term when, and under it which of its
 * writes were accepted and which refused. Pure: events in, lines out.
 *
 *              0 s                 1 s                 2 s
 *   A term 17  ━━━━━━━━━━━━━━━━━zzzzzzzzzzzzzzzzzzzzzzz╌
 *     writes      ✓   ✓   ✓                             ✗
 *   B term 21                                 ━━━━━━━━━━━━━━━━━━━
 *     writes                                    ✓   ✓   ✓
 */

export type TimelineEvent = { readonly atMs: number; readonly who: string } & (
  | { readonly kind: "leads"; readonly term: number }
  | { readonly kind: "frozen" | "woken" | "ended" }
  | { readonly kind: "accepted" | "refused" }
);

export const timelineLegend =
  "━ holds the lease   z frozen   ╌ believes it leads   ✓ write accepted   ✗ write refused";

interface Scale {
  readonly msOfColumn: number;
  readonly columns: number;
}

const labelWidth = 12;

/** `width` columns at most; `whos` gives the order of the lines. */
export function timelineLines(
  events: readonly TimelineEvent[],
  whos: readonly string[],
  width: number,
): string[] {
  const endMs = Math.max(0, ...events.map(({ atMs }) => atMs));
  const columns = Math.max(20, width - labelWidth);
  const scale = { msOfColumn: Math.max(1, (endMs + 1) / columns), columns };
  const lines = [`${"".padEnd(labelWidth)}${ruler(scale)}`];
  for (const who of whos) {
    const own = events.filter((event) => event.who === who);
    const terms = own.flatMap((event) => (event.kind === "leads" ? [event.term] : []));
    const label = terms.length === 0 ? who : `${who} term ${terms.join(", ")}`;
    lines.push(`${label.padEnd(labelWidth)}${roleLine(who, events, scale)}`);
    const writes = writeLine(own, scale);
    if (writes !== "") lines.push(`${"  writes".padEnd(labelWidth)}${writes}`);
  }
  return lines.map((line) => line.trimEnd());
}

function columnOf(atMs: number, { msOfColumn, columns }: Scale): number {
  return Math.min(columns - 1, Math.floor(atMs / msOfColumn));
}

/** A mark for each whole second, where there is room for its words. */
function ruler(scale: Scale): string {
  const line: string[] = Array.from({ length: scale.columns }, () => " ");
  let free = 0;
  for (let second = 0; second * 1_000 <= scale.columns * scale.msOfColumn; second += 1) {
    const words = `${second} s`;
    const at = columnOf(second * 1_000, scale);
    if (at < free || at + words.length > scale.columns) continue;
    for (const [offset, letter] of [...words].entries()) line[at + offset] = letter;
    free = at + words.length + 2;
  }
  return line.join("");
}

/** The lease is held from the grant to the next grant, whatever its holder believes by then. */
function roleLine(who: string, events: readonly TimelineEvent[], scale: Scale): string {
  return Array.from({ length: scale.columns }, (_, column) => {
    const untilMs = (column + 1) * scale.msOfColumn;
    // In a column in which much happens, what it ends with is what counts.
    let holder = "";
    let believes = false;
    let frozen = false;
    for (const event of events) {
      if (event.atMs >= untilMs) break;
      if (event.kind === "leads") holder = event.who;
      if (event.who !== who) continue;
      if (event.kind === "leads") believes = true;
      if (event.kind === "frozen" || event.kind === "woken") frozen = event.kind === "frozen";
      if (event.kind === "ended") believes = frozen = false;
      if (event.kind === "ended" && holder === who) holder = "";
    }
    if (frozen) return "z";
    if (holder === who) return "━";
    return believes ? "╌" : " ";
  }).join("");
}

function writeLine(own: readonly TimelineEvent[], scale: Scale): string {
  const line: string[] = Array.from({ length: scale.columns }, () => " ");
  for (const { kind, atMs } of own) {
    const at = columnOf(atMs, scale);
    if (kind === "refused") line[at] = "✗";
    if (kind === "accepted" && line[at] === " ") line[at] = "✓";
  }
  return line.join("").trimEnd();
}
