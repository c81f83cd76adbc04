/**
 * Reads the values of options: numbers, durations, addresses, lists of peers. Each refuses with a sentence that names
 * the option, what was given and what would be right.
 */
import { readFileSync } from "node:fs";
import type { GivenOptions } from "./arguments.ts";
import type { OptionName } from "./commandTable.ts";
import { UsageError } from "./usageError.ts";

export function textOption(options: GivenOptions, name: OptionName): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

export function integerOption(
  options: GivenOptions,
  name: OptionName,
  bounds: { readonly from: number; readonly to: number },
): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= bounds.from && value <= bounds.to) return value;
  throw new UsageError(`--${name} must be an integer from ${bounds.from} to ${bounds.to}, but is "${text}".`);
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

/** `500ms`, `5s`, `1.5s`, `1m`; from 1 ms to an hour. */
export function durationOption(options: GivenOptions, name: OptionName): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text);
  const ms =
    match === null ? Number.NaN : Math.round(Number(match[1]) * (unitMs[match[2] ?? ""] ?? Number.NaN));
  if (ms >= 1 && ms <= 3_600_000) return ms;
  throw new UsageError(`--${name} must be a time from 1ms to 60m such as 500ms, 5s or 1m, but is "${text}".`);
}

/** The address without a trailing slash; `where` names what it was given as. */
export function checkAddress(text: string, where: string): string {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    url = undefined;
  }
  const hasScheme = url?.protocol === "ws:" || url?.protocol === "wss:";
  const isBare = url?.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
  // URL drops the scheme's default port; it must be written all the same, so that nobody listens at 80 by mistake.
  if (url !== undefined && hasScheme && isBare && /:\d+\/?$/.test(text)) return text.replace(/\/$/, "");
  throw new UsageError(`${where} must be ws://host:port or wss://host:port, but is "${text}".`);
}

/** `ws://h:p,ws://h:p` */
export function parseEndpoints(text: string, where: string): readonly string[] {
  const endpoints = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => checkAddress(part, where));
  if (endpoints.length === 0) throw new UsageError(`${where} is empty: give ws://host:port,… .`);
  return endpoints;
}

/** `a=ws://h:p,b=ws://h:p` */
export function parsePeers(text: string, where: string): Readonly<Record<string, string>> {
  const peers: Record<string, string> = {};
  for (const part of text.split(",").map((piece) => piece.trim())) {
    const equals = part.indexOf("=");
    if (equals < 1) throw new UsageError(`${where} must be a=ws://host:port,b=… , but has "${part}" in it.`);
    const id = part.slice(0, equals).trim();
    if (Object.hasOwn(peers, id)) throw new UsageError(`${where} names the node ${id} twice.`);
    peers[id] = checkAddress(part.slice(equals + 1).trim(), `${where}, at node ${id},`);
  }
  return peers;
}

/** The text of a file that an option names. */
export function readOptionFile(path: string, where: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${where}: cannot read ${path} (${(error as Error).message}).`);
  }
}

/** The secret of `file`, without the line break at its end; else that of the environment. */
export function readSecret(
  file: string | undefined,
  environment: NodeJS.ProcessEnv,
  where: string,
): string | undefined {
  if (file === undefined) {
    const secret = environment.QUORATE_SECRET;
    return secret === undefined || secret === "" ? undefined : secret;
  }
  const secret = readOptionFile(file, where).replace(/\r?\n$/, "");
  if (secret === "") throw new UsageError(`${where}: ${file} is empty; it must hold the shared secret.`);
  return secret;
}
