/**
 * The house rules that one file can break, each a function from a file to complaints.
 *
 * A rule says where and what to do. `rules.test.ts` shows to each rule a file that breaks it.
 */
import type { HouseFile } from "./houseFiles.ts";
import { functionsOf, type Masked, mask } from "./sourceText.ts";

export type Rule = (file: HouseFile, masked: Masked) => string[];

const maxFileLines = 400;
const maxFunctionLines = 70;
/** Of a comment; the formatter keeps code to 110. */
const maxColumns = 120;

/** Folders without clock, chance, I/O or waiting. */
export const pureFolders: readonly string[] = [
  "packages/raft/src/core/",
  "packages/kv/src/machine/",
  "packages/client/src/protocol/",
];

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** One complaint for each place where `pattern` (global) occurs in `text`. */
function places(file: HouseFile, text: string, pattern: RegExp, advice: string): string[] {
  return [...text.matchAll(pattern)].map(
    (match) => `${file.path}:${lineAt(text, match.index)}: ${match[0].trim()}: ${advice}`,
  );
}

export const fileLength: Rule = (file) => {
  const lines = file.text.replace(/\n$/, "").split("\n").length;
  if (lines <= maxFileLines) return [];
  return [`${file.path}: ${lines} lines, at most ${maxFileLines}: give what it holds files of their own`];
};

export const functionLength: Rule = (file, masked) =>
  functionsOf(masked.code)
    .filter((span) => span.lines > maxFunctionLines)
    .map(
      (span) =>
        `${file.path}:${span.firstLine}: ${span.name} has ${span.lines} lines, at most ${maxFunctionLines}`,
    );

/** Of comments alone: the formatter sees to code, and leaves a long text whole. */
export const lineWidth: Rule = (file, masked) => {
  const code = masked.withStrings.split("\n");
  return file.text
    .split("\n")
    .map((line, index) => ({ columns: [...line].length, index }))
    .filter(({ columns, index }) => columns > maxColumns && code[index]?.trim() === "")
    .map(({ columns, index }) => `${file.path}:${index + 1}: ${columns} columns, at most ${maxColumns}`);
};

export const opensWithComment: Rule = (file) =>
  /^(?:#!.*\n)?\/[*/]/.test(file.text)
    ? []
    : [`${file.path}:1: open with a comment: what this file is, and what it must never do`];

export const names: Rule = (file, masked) => [
  ...(/(?:utils?|helpers?|misc|common)\.ts$/i.test(file.path)
    ? [`${file.path}: name the file after what it holds`]
    : []),
  ...places(
    file,
    masked.code,
    /\b(?:class|interface|type|function|const)\s+\w*(?:Manager|Impl|Helpers?|Utils?)\b/g,
    "name it after what it is",
  ),
];

export const language: Rule = (file, masked) => [
  ...places(file, masked.code, /\bexport\s+default\b/g, "no default exports"),
  ...places(file, masked.code, /\b(?:const\s+)?enum\s+\w+\s*\{/g, "no enums: a union of literals"),
  ...places(file, masked.code, /\bas\s+any\b|<any>/g, "no any: unknown, and check"),
  ...places(file, masked.code, /\bdebugger\b/g, "leave it out"),
  ...places(file, masked.code, /\b(?:describe|it|test)\.(?:only|skip|todo)\b/g, "every test runs"),
  ...places(file, file.text, /@ts-(?:ignore|nocheck|expect-error)\b/g, "let the compiler see it"),
  ...places(file, file.text, /\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b/g, "do it now, or open an issue"),
];

export const purity: Rule = (file, masked) => {
  if (!pureFolders.some((folder) => file.path.startsWith(folder))) return [];
  const advice = "pure code has no clock, no chance and no waiting";
  const impure = new RegExp(
    [
      /\basync\b|\bawait\b|\bPromise\b|\bDate\b|\bMath\s*\.\s*random\b|\bglobalThis\b/,
      /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask|performance|process|console|crypto)\b/,
      /\b(?:WeakRef|FinalizationRegistry|localeCompare|Intl|toLocale\w+)\b/,
    ]
      .map((part) => part.source)
      .join("|"),
    "g",
  );
  return places(file, masked.code, impure, advice);
};

/** Written backwards, so that this file keeps its own rule. */
function backwards(words: string): string {
  return words
    .split(" ")
    .map((word) => [...word].reverse().join("").replaceAll(".", "\\."))
    .join("|");
}

const foreignWords: readonly RegExp[] = [
  new RegExp(`(?<![\\w.])(?:${backwards("/krow/ /derahs/.. /toor/")})`, "g"),
  new RegExp(`(?:${backwards("gro.sjmpn.yrtsiger moc.gkpnray.yrtsiger lacol.yrtsiger")})`, "gi"),
  new RegExp(`\\b(?:${backwards("edualc ciporhtna tpgtahc ianepo tolipoc inimeg xedoc mll")})\\b`, "gi"),
  /\bissues? #?\d+\b/gi,
  /\bco-authored-by\b/gi,
];

/** The project speaks of itself alone: no machine, no registry, no tool that wrote it, no tracker. */
export function foreignWordsIn(file: HouseFile): string[] {
  return foreignWords.flatMap((pattern) =>
    places(file, file.text, pattern, "the project speaks of itself alone"),
  );
}

const codeRules: readonly Rule[] = [
  fileLength,
  functionLength,
  lineWidth,
  opensWithComment,
  names,
  language,
  purity,
];

/** What a source file breaks of the rules of one file. */
export function complaintsAbout(file: HouseFile): string[] {
  const masked = mask(file.text);
  return codeRules.flatMap((rule) => rule(file, masked));
}

/** The codes in `docs/reference/errors.md` are its third-level headings. */
export function documentedCodes(markdown: string): string[] {
  return [...markdown.matchAll(/^### `([A-Z_]+)`$/gm)].map((match) => match[1] as string);
}
