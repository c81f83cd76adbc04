/**
 * As much of TypeScript's grammar as the house rules need: where comments and strings are, what is imported, and
 * where functions begin and end. The compiler has no interface for programs, hence this.
 *
 * It must never guess in favour of the code: `sourceText.test.ts` feeds it the shapes that could fool it.
 */

export interface Masked {
  /** Comments, and what is inside strings, templates and regular expressions, are blanks; lengths are kept. */
  readonly code: string;
  /** Only comments are blanks. */
  readonly withStrings: string;
}

export interface Import {
  readonly specifier: string;
  /** Wholly erased by the compiler: `import type`, `export type … from`. */
  readonly erased: boolean;
  /** `import(…)`: loaded when it is called, not with the module. */
  readonly lazy: boolean;
}

export interface FunctionSpan {
  readonly name: string;
  readonly firstLine: number;
  readonly lines: number;
}

const wordsBeforeRegex =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$/;

function startsRegex(before: string): boolean {
  const trimmed = before.trimEnd();
  return trimmed === "" || /[(,=:[!&|?{};+\-*%<>~^]$/.test(trimmed) || wordsBeforeRegex.test(trimmed);
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

/** The end (exclusive) of the quoted string, or the regular expression, that starts at `start`. */
function endOfQuoted(source: string, start: number, quote: string): number {
  let inClass = false;
  for (let i = start + 1; i < source.length; i += 1) {
    const char = source[i];
    if (char === "\\") i += 1;
    else if (char === "\n" && quote !== "`") return i;
    else if (quote === "/" && char === "[") inClass = true;
    else if (quote === "/" && char === "]") inClass = false;
    else if (char === quote && !inClass) return i + 1;
  }
  return source.length;
}

/** The text of a template from `start` on, up to its end or its next `${`. */
function endOfTemplatePart(source: string, start: number): { end: number; hole: boolean } {
  for (let i = start; i < source.length; i += 1) {
    if (source[i] === "\\") i += 1;
    else if (source[i] === "`") return { end: i + 1, hole: false };
    else if (source[i] === "$" && source[i + 1] === "{") return { end: i + 2, hole: true };
  }
  return { end: source.length, hole: false };
}

export function mask(source: string): Masked {
  let code = "";
  let withStrings = "";
  /** Depth of braces at which each open template goes on. */
  const templates: number[] = [];
  let depth = 0;
  let i = 0;
  const take = (end: number, kind: "code" | "comment" | "string"): void => {
    const part = source.slice(i, end);
    if (kind === "string") code += part[0] + blank(part.slice(1, -1)) + (part.length > 1 ? part.at(-1) : "");
    else code += kind === "code" ? part : blank(part);
    withStrings += kind === "comment" ? blank(part) : part;
    i = end;
  };
  const takeTemplate = (): void => {
    const part = endOfTemplatePart(source, i + 1);
    if (part.hole) templates.push(depth);
    if (part.hole) depth += 1;
    take(part.end, "string");
  };
  while (i < source.length) {
    const two = source.slice(i, i + 2);
    const char = source[i] as string;
    if (two === "//" || (two === "#!" && i === 0)) {
      const end = source.indexOf("\n", i);
      take(end < 0 ? source.length : end, "comment");
    } else if (two === "/*") {
      const end = source.indexOf("*/", i + 2);
      take(end < 0 ? source.length : end + 2, "comment");
    } else if (char === '"' || char === "'") take(endOfQuoted(source, i, char), "string");
    else if (char === "`") takeTemplate();
    else if (char === "}" && templates.at(-1) === depth - 1) {
      templates.pop();
      depth -= 1;
      takeTemplate();
    } else if (char === "/" && startsRegex(code)) take(endOfQuoted(source, i, "/"), "string");
    else {
      if (char === "{") depth += 1;
      if (char === "}") depth -= 1;
      take(i + 1, "code");
    }
  }
  return { code, withStrings };
}

const staticImport = /(?:^|[;\n}])\s*(import|export)(\s+type\b(?!\s*(?:,|from\b)))?([^;"'`()=]*?)(["'])/g;
const calledImport = /\b(import|require)\s*\(\s*(["'])/g;

function stringAt(text: string, quoteIndex: number): string {
  return text.slice(quoteIndex + 1, endOfQuoted(text, quoteIndex, text[quoteIndex] as string) - 1);
}

export function importsOf(masked: Masked): Import[] {
  const found: Import[] = [];
  for (const match of masked.code.matchAll(staticImport)) {
    const clause = match[3] as string;
    if (clause.trim() !== "" && !/\bfrom\s*$/.test(clause)) continue;
    if (clause.trim() === "" && match[1] === "export") continue;
    const quoteIndex = match.index + match[0].length - 1;
    found.push({
      specifier: stringAt(masked.withStrings, quoteIndex),
      erased: match[2] !== undefined,
      lazy: false,
    });
  }
  for (const match of masked.code.matchAll(calledImport)) {
    const quoteIndex = match.index + match[0].length - 1;
    // A `require` stands at the top of its file here, and loads what it names with it.
    const lazy = match[1] === "import";
    found.push({ specifier: stringAt(masked.withStrings, quoteIndex), erased: false, lazy });
  }
  return found;
}

const opening: Readonly<Record<string, string>> = { ")": "(", "}": "{", "]": "[", ">": "<" };

/** The index of the bracket that opens the one which closes at `end`, or -1. */
function matchingOpen(code: string, end: number): number {
  const close = code[end] as string;
  const open = opening[close] as string;
  let depth = 0;
  for (let i = end; i >= 0; i -= 1) {
    if (code[i] === close && !(close === ">" && code[i - 1] === "=")) depth += 1;
    else if (code[i] === open) {
      depth -= 1;
      if (depth === 0) return i;
    }
  }
  return -1;
}

function closingAfter(code: string, start: number): number {
  let depth = 0;
  for (let i = start; i < code.length; i += 1) {
    if (code[i] === "{") depth += 1;
    else if (code[i] === "}") {
      depth -= 1;
      if (depth === 0) return i;
    }
  }
  return code.length - 1;
}

const wordsBeforeBlock = new Set(
  "class interface extends implements namespace else try finally do static return".split(" "),
);

/**
 * The end (inclusive) of the parameter list to which the body that opens at `brace` belongs, or -1 where the brace
 * opens no body: it stands right after `)`, after `): type`, or after `=>`.
 */
function parametersEnd(code: string, brace: number): number {
  let type = false;
  for (let i = brace - 1; i >= 0; i -= 1) {
    const char = code[i] as string;
    if (/\s/.test(char)) continue;
    if (char === ")" && !type) return i;
    if (char === ":" && type) {
      const before = code.slice(0, i).trimEnd();
      return before.endsWith(")") ? before.length - 1 : -1;
    }
    const word = /\w/.test(char) ? (/[\w$]+$/.exec(code.slice(0, i + 1))?.[0] ?? "") : "";
    if (wordsBeforeBlock.has(word)) return -1;
    const isArrow = char === ">" && code[i - 1] === "=";
    if (isArrow) i -= 1;
    else if (word !== "") i -= word.length - 1;
    else if (char in opening) i = matchingOpen(code, i);
    else if (!/[\w$.|&"'`?]/.test(char)) return -1;
    type = !isArrow || type;
  }
  return -1;
}

const notFunctions = new Set(["if", "for", "while", "switch", "catch", "with", "await"]);

function lineOf(code: string, index: number): number {
  return code.slice(0, index).split("\n").length;
}

/** The callback of `describe("…", () => {`. */
function isChapter(code: string, parenthesis: number): boolean {
  const head = code.slice(0, parenthesis).trimEnd();
  return /\bdescribe(?:\.\w+)*(?:\([^;]*\))?\(\s*(["'`])[^"'`]*\1\s*,(?:\s*async)?$/.test(head);
}

/** Every function with a block body. The callbacks of `describe` are chapters, not functions, and are left out. */
export function functionsOf(code: string): FunctionSpan[] {
  const spans: FunctionSpan[] = [];
  for (let brace = code.indexOf("{"); brace >= 0; brace = code.indexOf("{", brace + 1)) {
    const isArrow = code.slice(0, brace).trimEnd().endsWith("=>");
    const end = parametersEnd(code, brace);
    if (end < 0 && !isArrow) continue;
    const start = end < 0 ? brace : matchingOpen(code, end);
    const name = /([\w$#]*)\s*(?:<[^()]*>)?\s*$/.exec(code.slice(Math.max(0, start - 200), start))?.[1] ?? "";
    if (notFunctions.has(name) || (isArrow && isChapter(code, start))) continue;
    const firstLine = lineOf(code, start);
    spans.push({
      name: isArrow || name === "" ? "(arrow)" : name,
      firstLine,
      lines: lineOf(code, closingAfter(code, brace)) - firstLine + 1,
    });
  }
  return spans;
}
