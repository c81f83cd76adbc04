/** The body of the page around its canvases. What comes from a run is escaped here, or set as text by the script. */
import { eventCount, type RunRecording } from "./browser/recording.ts";

export function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (letter) => entities[letter] as string);
}

export function bodyOf(recording: RunRecording): string {
  return `${headerOf(recording)}
${toolsOf(recording)}
<main id="stage"><canvas id="timeline" tabindex="0" role="img" aria-label="The nodes over time, with the messages between them. The state at the cursor is in the table beside it."></canvas></main>
<aside>
<section aria-live="polite"><h2>State at <span id="cursor-time"></span></h2>
<table><thead><tr><th></th><th>role</th><th>term</th><th>vote</th><th>commit</th><th>applied</th><th>last</th></tr></thead>
<tbody id="state"></tbody></table></section>
<section><h2>Event <span id="event-place"></span></h2><div id="event"></div></section>
<section><h2>Legend</h2>${legend}
<p class="keys"><span><kbd>←</kbd> <kbd>→</kbd> events</span> <span><kbd>⇧</kbd> with them: turns</span> <span><kbd>+</kbd> <kbd>−</kbd> zoom</span> <span><kbd>0</kbd> whole run</span> <span><kbd>V</kbd> violation</span> <span>Wheel zooms, dragging moves</span></p></section>
</aside>
<footer><canvas id="overview" aria-label="The whole run; drag to move through it."></canvas></footer>
<div id="tip" hidden></div>`;
}

function headerOf(recording: RunRecording): string {
  const { seed, nodes, endMs, violations, cutBeforeMs } = recording;
  const number = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 1 });
  const [first] = violations;
  const verdict =
    first === undefined
      ? `<span id="verdict">No violation</span>`
      : `<span id="verdict" class="broken">${escapeHtml(first.invariant)} was violated</span>`;
  const notice =
    cutBeforeMs === undefined
      ? ""
      : `<p class="notice">The run was longer than a page holds: what was before ${number(cutBeforeMs)} ms is left out.</p>`;
  return `<header><h1>Run of seed ${number(seed).replaceAll(",", "")}</h1>
<span class="fact"><b>${nodes.length}</b> nodes</span>
<span class="fact"><b>${number(endMs / 1_000)} s</b> of virtual time</span>
<span class="fact"><b>${number(eventCount(recording))}</b> events</span>
<span class="fact"><b>${number(recording.faults.length)}</b> faults</span>
${verdict}</header>${notice}`;
}

function toolsOf({ violations }: RunRecording): string {
  const chip = (shows: string, color: string, words: string, isOn = true): string =>
    `<button type="button" data-shows="${shows}" aria-pressed="${isOn}" style="--mark: var(--${color})">${words}</button>`;
  const button = (id: string, words: string, label: string, isHidden = false): string =>
    `<button type="button" id="${id}" title="${label}" aria-label="${label}"${isHidden ? " hidden" : ""}>${words}</button>`;
  const gap = '<span class="gap"></span>';
  return `<nav>${[
    chip("append", "append", "Appends"),
    chip("vote", "vote", "Votes"),
    chip("preVote", "pre-vote", "Pre-votes"),
    chip("read", "read", "Reads"),
    chip("heartbeat", "heartbeat", "Heartbeats", false),
    chip("commit", "commit", "Commit index"),
    chip("clients", "ok", "Clients"),
    gap,
    button("previous-turn", "⇤", "Previous change of role, term or fault"),
    button("previous", "←", "Previous event"),
    button("next", "→", "Next event"),
    button("next-turn", "⇥", "Next change of role, term or fault"),
    gap,
    button("nearer", "+", "Zoom in"),
    button("farther", "−", "Zoom out"),
    button("whole", "Whole run", "Show the whole run"),
    button("violation", "Go to violation", "Go to the violation", violations.length === 0),
  ].join("\n")}</nav>`;
}

const legend = `<ul class="legend">
<li><i style="--mark: var(--leader)"></i>leader</li><li><i style="--mark: var(--ok)"></i>write, done</li>
<li><i style="--mark: var(--candidate)"></i>candidate</li><li><i style="--mark: var(--failed)"></i>write, not done</li>
<li><i style="--mark: var(--pre-candidate)"></i>pre-candidate</li><li><i style="--mark: var(--unknown)"></i>outcome unknown</li>
<li><i style="--mark: var(--follower)"></i>follower</li><li><i class="hollow" style="--mark: var(--ok)"></i>read</li>
<li><i class="hatched" style="--angle: 135deg"></i>down</li><li><i class="hatched" style="--angle: 90deg"></i>paused</li>
<li><i style="--mark: var(--side-1)"></i>cut off</li><li><i class="lost">×</i>never arrived</li>
<li><i class="line" style="--mark: var(--commit)"></i>commit index</li><li><i style="--mark: var(--tail)"></i>not committed yet</li>
</ul>`;
