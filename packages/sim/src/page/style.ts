/** The page's style sheet: one set of variables for light, one for dark. The canvases read their colours from here. */
export const style = `
:root {
  color-scheme: light dark;
  --font: ui-sans-serif, system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif;
  --ground: #fcfcfa; --raised: #ffffff; --text: #1d2126; --quiet: #69717b; --line: #e4e5e2; --lane: #f4f5f2;
  --leader: #0072b2; --candidate: #d55e00; --pre-candidate: #e69f00; --follower: #c3c9cf; --on-band: #ffffff;
  --append: #4a6fa5; --vote: #d55e00; --pre-vote: #c98a00; --read: #009e73; --heartbeat: #9aa2ab;
  --ok: #009e73; --failed: #d55e00; --unknown: #cc79a7; --open: #8a929b;
  --lost: #c0392b; --violation: #c8102e; --cursor: #1d2126; --hatch: #7d8590; --trouble: #cc79a7;
  --commit: #3c6e57; --tail: #3c6e5733;
  --side-0: #0072b20f; --side-1: #cc79a726; --side-2: #e69f0026; --side-3: #009e7326;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --raised: #1b1f25; --text: #e8eaed; --quiet: #98a1ac; --line: #2b3038; --lane: #191d22;
    --leader: #3f9bd8; --candidate: #e8743b; --pre-candidate: #e0a526; --follower: #464e59; --on-band: #0d1013;
    --append: #7ea6e0; --vote: #f08a54; --pre-vote: #e3b341; --read: #3cc49a; --heartbeat: #6d7681;
    --ok: #2fb78c; --failed: #e8743b; --unknown: #e09cc4; --open: #7f8893;
    --lost: #ff6b5e; --violation: #ff5468; --cursor: #f2f4f6; --hatch: #8b949f; --trouble: #e09cc4;
    --commit: #6fc7a0; --tail: #6fc7a02e;
    --side-0: #56b4e912; --side-1: #cc79a72b; --side-2: #e69f0024; --side-3: #009e7330;
  }
}
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; }
body {
  display: grid; grid-template: auto auto 1fr auto / 1fr 350px; background: var(--ground); color: var(--text);
  font: 14px/1.45 var(--font); font-variant-numeric: tabular-nums;
}
header { grid-column: 1 / -1; display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 18px; padding: 16px 20px 8px; }
h1 { font-size: 20px; font-weight: 650; letter-spacing: -0.01em; margin: 0; }
header .fact { color: var(--quiet); }
header .fact b { color: var(--text); font-weight: 600; }
#verdict { margin-left: auto; font-weight: 600; padding: 3px 12px; border-radius: 99px; color: var(--ok);
  background: color-mix(in srgb, var(--ok) 12%, transparent); }
#verdict.broken { color: var(--violation); background: color-mix(in srgb, var(--violation) 12%, transparent); }
nav { grid-column: 1 / -1; display: flex; flex-wrap: wrap; align-items: center; gap: 6px; padding: 6px 20px 12px;
  border-bottom: 1px solid var(--line); }
nav .gap { width: 14px; }
button { font: inherit; font-size: 13px; color: var(--text); background: var(--raised); border: 1px solid var(--line);
  border-radius: 7px; padding: 3px 10px; cursor: pointer; line-height: 1.5; }
button:hover { border-color: var(--quiet); }
button:focus-visible, canvas:focus-visible { outline: 2px solid var(--leader); outline-offset: 2px; }
button[aria-pressed]::before { content: ""; display: inline-block; width: 16px; height: 3px; border-radius: 2px;
  margin-right: 7px; vertical-align: 3px; background: var(--mark); }
button[aria-pressed="false"] { color: var(--quiet); background: transparent; border-style: dashed; }
button[aria-pressed="false"]::before { opacity: 0.3; }
#violation { color: var(--violation); border-color: currentColor; font-weight: 600; }
#stage { position: relative; min-width: 0; min-height: 380px; overflow: hidden; }
#timeline { position: absolute; inset: 0; width: 100%; height: 100%; cursor: crosshair; touch-action: none; }
#timeline.over { cursor: pointer; }
#timeline.dragged { cursor: grabbing; }
aside { border-left: 1px solid var(--line); padding: 16px 20px; overflow: auto; background: var(--raised); }
aside section + section { margin-top: 20px; padding-top: 16px; border-top: 1px solid var(--line); }
h2 { display: flex; justify-content: space-between; font-size: 12px; font-weight: 600; color: var(--quiet);
  margin: 0 0 8px; }
h2 span { color: var(--text); }
h3 { font-size: 15px; font-weight: 600; margin: 0 0 6px; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: 13px; }
thead th { font-size: 11px; font-weight: 500; color: var(--quiet); padding-bottom: 4px; }
th, td { text-align: right; padding: 3px 0 3px 6px; font-weight: 400; }
tbody th { font-weight: 650; text-align: left; padding-left: 0; }
th:nth-child(2), td.role { text-align: left; white-space: nowrap; }
td.role::before { content: ""; display: inline-block; width: 9px; height: 9px; border-radius: 3px; margin-right: 7px;
  background: var(--follower); }
td.leader::before { background: var(--leader); } td.leader { font-weight: 600; }
td.candidate::before { background: var(--candidate); } td.preCandidate::before { background: var(--pre-candidate); }
td.down { color: var(--quiet); } td.down::before { background: none; box-shadow: inset 0 0 0 1.5px var(--hatch); }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 14px; margin: 0; font-size: 13px; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); margin: 0; }
.legend { display: grid; grid-template-columns: 1fr 1fr; gap: 5px 12px; font-size: 12.5px; margin: 0; padding: 0; list-style: none; }
.legend i { display: inline-block; width: 18px; height: 10px; border-radius: 3px; margin-right: 8px; vertical-align: -1px;
  background: var(--mark); }
.legend i.hollow { background: none; box-shadow: inset 0 0 0 1.5px var(--mark); }
.legend i.hatched { background: repeating-linear-gradient(var(--angle), var(--hatch) 0 1.5px, transparent 1.5px 5px); }
.legend i.line { height: 2px; vertical-align: 3px; }
.legend i.lost { background: none; color: var(--lost); font: 600 14px/10px var(--font); text-align: center; }
kbd { font: 600 11px var(--font); padding: 1px 6px; border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 5px; }
.keys { font-size: 12.5px; color: var(--quiet); line-height: 2.1; margin: 14px 0 0; }
.keys span { white-space: nowrap; margin-right: 12px; }
footer { grid-column: 1 / -1; padding: 10px 20px 14px; border-top: 1px solid var(--line); }
#overview { display: block; width: 100%; height: 52px; border-radius: 5px; cursor: ew-resize; touch-action: none; }
#tip { position: fixed; z-index: 1; pointer-events: none; white-space: pre-line; max-width: 360px; padding: 7px 11px;
  border-radius: 8px; font-size: 12.5px; background: var(--text); color: var(--ground); box-shadow: 0 4px 18px #0003; }
#tip::first-line { font-weight: 600; }
.notice { grid-column: 1 / -1; margin: 0; padding: 6px 20px; font-size: 13px; background: var(--side-2); }
@media (max-width: 900px) {
  body { grid-template: auto auto minmax(420px, 60vh) auto auto / 1fr; height: auto; }
  aside { grid-row: 5; border-left: 0; border-top: 1px solid var(--line); }
}
`;
