/**
 * A recording as one HTML file that needs nothing else: no network, no other file, no server.
 *
 * The page's script is what lies in browser/, compiled; it is read from the built package, whether this file runs from
 * the sources or from dist. Its policy forbids the page to load anything at all.
 */
import { readFileSync } from "node:fs";
import type { RunRecording } from "./browser/recording.ts";
import { bodyOf } from "./markup.ts";
import { style } from "./style.ts";

/** In the order in which they must be defined: what a file imports comes before it. */
const scriptFiles = [
  "recording",
  "timeScale",
  "runIndex",
  "palette",
  "scene",
  "drawTroubles",
  "drawLanes",
  "drawMessages",
  "drawOperations",
  "drawMarks",
  "overview",
  "eventWords",
  "panel",
  "pageState",
  "inputs",
  "main",
] as const;

/** From `src/page` and from `dist/page` alike. */
const builtScripts = new URL("../../dist/page/browser/", import.meta.url);

const policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/** The page of a run: write it to a file and open it. Throws if the package was not built. */
export function renderPage(recording: RunRecording): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="icon" href="data:,">
<title>Run of seed ${recording.seed}</title>
<style>${style}</style>
</head>
<body>
${bodyOf(recording)}
<script type="application/json" id="recording">${asInlineJson(recording)}</script>
<script type="module">${script()}</script>
</body>
</html>
`;
}

/** No text of a run can end the element that it stands in. */
function asInlineJson(recording: RunRecording): string {
  return JSON.stringify(recording).replaceAll("<", "\\u003c");
}

/** The modules as one: they name everything they export differently, so that one scope holds them all. */
function script(): string {
  return scriptFiles
    .map((name) => withoutModule(readFileSync(new URL(`${name}.js`, builtScripts), "utf8")))
    .join("\n");
}

function withoutModule(source: string): string {
  return source
    .replaceAll(/^import [^;]*;\n/gm, "")
    .replaceAll(/^export (?=(?:const|function|class) )/gm, "")
    .replaceAll(/^export \{\};\n/gm, "")
    .replaceAll(/^\/\/# sourceMappingURL=.*\n?/gm, "");
}
