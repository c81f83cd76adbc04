/** The text of `--help`, made from the command table. Loaded only when it is asked for. */
import {
  type CommandName,
  type CommandSpec,
  commandTable,
  type OptionName,
  optionTable,
  wordsOf,
} from "./commandTable.ts";
import { exitCodeMeanings } from "./exitCodes.ts";

const optionWidth = 26;

export function helpText(command: CommandName | undefined): string {
  return command === undefined ? overview() : commandHelp(command, commandTable[command]);
}

function overview(): string {
  const commands = Object.entries(commandTable).map(([name, spec]) => ({
    words: [name, ...wordsOf(name as CommandName)].join(" "),
    about: spec.about,
  }));
  const width = Math.max(...commands.map(({ words }) => words.length)) + 2;
  return [
    "quorate: a linearizable key-value store, replicated by Raft.",
    "",
    "Usage: quorate COMMAND [OPTIONS]",
    "",
    ...commands.map(({ words, about }) => `  ${words.padEnd(width)}${about}`),
    "",
    "quorate COMMAND --help tells about a command, quorate --version the version.",
    "",
    ...exitCodeLines(),
    "",
  ].join("\n");
}

function commandHelp(name: CommandName, spec: CommandSpec): string {
  return [
    `Usage: quorate ${name} ${usageOf(name)}`,
    "",
    `${spec.about[0]?.toUpperCase()}${spec.about.slice(1)}.`,
    "",
    ...(spec.options.length === 0 ? [] : [...spec.options.map((option) => optionLine(option, spec)), ""]),
    spec.notes,
    "",
    ...exitCodeLines(),
    "",
  ].join("\n");
}

function usageOf(name: CommandName): string {
  const words = wordsOf(name);
  const options = commandTable[name].options.length === 0 ? [] : ["[OPTIONS]"];
  const isLast = !words.some((word) => word.startsWith("-- "));
  return (isLast ? [...words, ...options] : [...options, ...words]).join(" ");
}

function optionLine(name: OptionName, { abouts }: CommandSpec): string {
  const { value, about } = optionTable[name];
  const words = value === undefined ? `--${name}` : `--${name} ${value}`;
  return `  ${words.padEnd(optionWidth)}${abouts?.[name] ?? about}`;
}

function exitCodeLines(): readonly string[] {
  return [
    "Exit codes:",
    ...exitCodeMeanings.map(([code, meaning]) => `  ${String(code).padStart(2)}  ${meaning}`),
  ];
}
