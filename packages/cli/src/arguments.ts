/**
 * From the words of the command line to an invocation, by the platform's own parser (node:util) and the command
 * table. Refuses what it does not know with a sentence; never guesses. Values are read by optionValues.ts.
 */
import { type ParseArgsConfig, parseArgs } from "node:util";
import {
  type CommandName,
  commandTable,
  isCommandName,
  isOptionName,
  type OptionName,
  optionTable,
  wordsOf,
} from "./commandTable.ts";
import { UsageError } from "./usageError.ts";

/** Text for options that take a value, `true` for switches. */
export type GivenOptions = Readonly<Partial<Record<OptionName, string | true>>>;

export type Invocation =
  | { readonly kind: "help"; readonly command: CommandName | undefined }
  | { readonly kind: "version" }
  | {
      readonly kind: "command";
      readonly command: CommandName;
      readonly positionals: readonly string[];
      readonly options: GivenOptions;
    };

/** What decides how errors are told, also of words that cannot be read otherwise. */
export interface Outline {
  readonly command: string | undefined;
  readonly json: boolean;
}

export function outlineOf(args: readonly string[]): Outline {
  const tokens = tokensOf(args);
  const command = tokens.find((token) => token.kind === "positional");
  return {
    command: command?.value,
    json: tokens.some((token) => token.kind === "option" && token.name === "json"),
  };
}

/** Options may stand before and after the command's name; `--` ends them. */
export function parseInvocation(args: readonly string[]): Invocation {
  const { options, positionals, beforeDashes } = readWords(args);
  const [name, ...rest] = positionals;
  if (options.version) return { kind: "version" };
  if (name === undefined || name === "help") {
    const about = rest[0] !== undefined && isCommandName(rest[0]) ? rest[0] : undefined;
    if (options.help || name === "help") return { kind: "help", command: about };
    throw new UsageError(`No command given. The commands are ${commandNames()}; quorate --help shows more.`);
  }
  if (!isCommandName(name)) {
    throw new UsageError(`There is no command "${name}". The commands are ${commandNames()}.`);
  }
  if (options.help) return { kind: "help", command: name };
  checkOptions(name, options);
  checkPositionals(name, rest);
  checkDashes(name, beforeDashes - 1);
  return { kind: "command", command: name, positionals: rest, options };
}

function commandNames(): string {
  return Object.keys(commandTable).join(", ");
}

interface Words {
  readonly options: GivenOptions;
  readonly positionals: readonly string[];
  /** How many positionals stand before `--`; all of them where there is none. */
  readonly beforeDashes: number;
}

type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];

function tokensOf(args: readonly string[]): readonly Token[] {
  const config: ParseArgsConfig = {
    args: [...args],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options: parserOptions(),
  };
  return parseArgs(config).tokens ?? [];
}

function readWords(args: readonly string[]): Words {
  const options: Partial<Record<OptionName, string | true>> = {};
  const positionals: string[] = [];
  let beforeDashes: number | undefined;
  for (const token of tokensOf(args)) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind === "option-terminator") beforeDashes = positionals.length;
    if (token.kind !== "option") continue;
    if (!isOptionName(token.name)) throw new UsageError(`There is no option ${token.rawName}. ${dashAdvice}`);
    if (options[token.name] !== undefined) throw new UsageError(`${token.rawName} is given twice.`);
    options[token.name] = optionValue(token.name, token.value, token.inlineValue === true);
  }
  return { options, positionals, beforeDashes: beforeDashes ?? positionals.length };
}

const minimizeAdvice = "The schedule in a file is made small with --replay FILE --minimize.";
const dashAdvice = "(A key or value that begins with a dash goes after --.)";

function parserOptions(): NonNullable<ParseArgsConfig["options"]> {
  const options: NonNullable<ParseArgsConfig["options"]> = {};
  for (const [name, spec] of Object.entries(optionTable)) {
    options[name] = { type: spec.value === undefined ? "boolean" : "string" };
  }
  options.help = { type: "boolean", short: "h" };
  return options;
}

function optionValue(name: OptionName, value: string | undefined, inline: boolean): string | true {
  const placeholder = optionTable[name].value;
  if (placeholder === undefined) {
    if (value !== undefined) {
      const advice = name === "minimize" ? ` ${minimizeAdvice}` : "";
      throw new UsageError(`--${name} takes no value, but was given "${value}".${advice}`);
    }
    return true;
  }
  if (value === "" && optionTable[name].mayBeEmpty) return value;
  // `--listen --peers …` is a forgotten value, not a value that begins with two dashes.
  if (value === undefined || value === "" || (!inline && value.startsWith("--"))) {
    throw new UsageError(`--${name} needs a value: --${name} ${placeholder}.`);
  }
  return value;
}

function checkOptions(command: CommandName, options: GivenOptions): void {
  const known = commandTable[command].options;
  for (const name of Object.keys(options) as OptionName[]) {
    if (known.includes(name)) continue;
    const list = known.map((option) => `--${option}`).join(", ") || "none";
    throw new UsageError(`quorate ${command} does not take --${name}. It takes ${list}.`);
  }
}

function checkPositionals(command: CommandName, given: readonly string[]): void {
  const names = commandTable[command].positionals;
  const missing = names.slice(given.length).find((name) => !name.startsWith("["));
  if (missing !== undefined) {
    throw new UsageError(`${missing} is missing: quorate ${command} ${wordsOf(command).join(" ")}.`);
  }
  if (given.length > names.length && names.at(-1)?.endsWith("…") !== true) {
    const expected = names.length === 0 ? "no arguments" : names.join(" ");
    const advice = command === "sim" ? minimizeAdvice : "(Quote words with spaces.)";
    throw new UsageError(
      `quorate ${command} takes ${expected}; "${given[names.length]}" is one too many. ${advice}`,
    );
  }
}

/** The command of another program stands behind `--`, and nothing else does: `lock my job -- rm x` is no lock "my". */
function checkDashes(command: CommandName, beforeDashes: number): void {
  const names = commandTable[command].positionals;
  if (names.at(-1)?.endsWith("…") !== true || beforeDashes === names.length - 1) return;
  throw new UsageError(
    `Use it so: quorate ${command} ${wordsOf(command).join(" ")}. The command to run is all that stands after --, and ` +
      `before it is ${names.slice(0, -1).join(" ")} alone. (Quote words with spaces.)`,
  );
}
