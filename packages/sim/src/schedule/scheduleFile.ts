/**
 * Schedules as JSON text, one event a line. What is read is checked field by field, and a wrong one is named, for
 * people edit these files. Must import nothing that touches a disk: the text is all there is here.
 */
import { QuorateError } from "@quorate/raft";
import { strikesCores } from "../core/coreFaults.ts";
import type { FaultKind } from "../faults/fault.ts";
import { layers } from "../layer.ts";
import { type Schedule, scheduleVersion } from "./schedule.ts";
import { type Check, faultChecks, operationChecks, profileChecks } from "./scheduleFields.ts";

export function writeSchedule(schedule: Schedule): string {
  const { faults, operations, ...head } = schedule;
  const lists: [string, readonly unknown[]][] = [["faults", faults]];
  if (operations !== undefined) lists.push(["operations", operations]);
  const lines = [
    ...Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`),
    ...lists.map(([name, events]) => `  ${JSON.stringify(name)}: ${listText(events)}`),
  ];
  return `{\n${lines.join(",\n")}\n}\n`;
}

function listText(events: readonly unknown[]): string {
  if (events.length === 0) return "[]";
  return `[\n${events.map((event) => `    ${JSON.stringify(event)}`).join(",\n")}\n  ]`;
}

/** `where` names the file in errors, which are `INVALID_ARGUMENT`. */
export function readSchedule(text: string, where: string = "the schedule"): Schedule {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refusal(where, `is no JSON (${(error as Error).message})`);
  }
  if (!isRecord(value)) throw refusal(where, "must be an object");
  if (value.version !== scheduleVersion) {
    throw refusal(
      where,
      `must have "version": ${scheduleVersion}, but has ${JSON.stringify(value.version)}: other versions write others`,
    );
  }
  const bounded = checkNumber(value, where);
  bounded("seed", 0, 0xffff_ffff);
  bounded("nodes", 1, 7);
  bounded("durationMs", 0, 86_400_000, false);
  const { layer } = value;
  if (!layers.some((known) => known === layer)) {
    const known = layers.map((name) => `"${name}"`).join(" or ");
    throw refusal(where, `: layer must be ${known}, but is ${JSON.stringify(layer)}`);
  }
  if (value.recovers !== undefined && typeof value.recovers !== "boolean") {
    throw refusal(where, ": recovers must be true or false");
  }
  checkFields(value.profile, {}, profileChecks, `${where}: profile`);
  const spares = (value.profile as { readonly spares?: number }).spares ?? 0;
  const names = Array.from({ length: (value.nodes as number) + spares }, (_, at) =>
    String.fromCharCode(97 + at),
  );
  const faults = Object.entries(faultChecks(names)).filter(
    ([kind]) => layer !== "core" || strikesCores(kind as FaultKind),
  );
  checkEvents(value.faults, "fault", Object.fromEntries(faults), `${where}: faults`);
  if (value.operations !== undefined) {
    checkEvents(value.operations, "operation", operationChecks(names), `${where}: operations`);
  }
  const known = [
    "version",
    "seed",
    "nodes",
    "layer",
    "profile",
    "durationMs",
    "recovers",
    "faults",
    "operations",
  ];
  checkNames(value, known, where);
  return value as unknown as Schedule;
}

function checkNumber(
  record: Record<string, unknown>,
  where: string,
): (name: string, from: number, to: number, whole?: boolean) => void {
  return (name, from, to, whole = true) => {
    const value = record[name];
    const fits = typeof value === "number" && value >= from && value <= to;
    if (fits && (!whole || Number.isInteger(value))) return;
    const kind = whole ? "an integer" : "a number";
    throw refusal(where, `: ${name} must be ${kind} from ${from} to ${to}, but is ${JSON.stringify(value)}`);
  };
}

function checkEvents(
  list: unknown,
  name: "fault" | "operation",
  kinds: Readonly<Record<string, Readonly<Record<string, Check>>>>,
  where: string,
): void {
  if (!Array.isArray(list)) throw refusal(where, "must be a list");
  for (const [at, event] of list.entries()) {
    const place = `${where}[${at}]`;
    if (!isRecord(event)) throw refusal(place, `must be {"atMs": …, "${name}": {…}}`);
    checkNumber(event, place)("atMs", 0, 86_400_000, false);
    checkNames(event, ["atMs", name], place);
    const what = event[name];
    const kind = isRecord(what) ? what.kind : undefined;
    const fields = typeof kind === "string" && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    if (fields === undefined) {
      const known = Object.keys(kinds).join(", ");
      throw refusal(place, `: ${name} must have a kind of ${known}, but has ${JSON.stringify(kind)}`);
    }
    checkFields(what, fields, {}, `${place}: ${name}`, ["kind"]);
  }
}

function checkFields(
  value: unknown,
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>>,
  where: string,
  free: readonly string[] = [],
): void {
  if (!isRecord(value)) throw refusal(where, "must be an object");
  for (const [name, check] of Object.entries({ ...required, ...optional })) {
    if (value[name] === undefined && !Object.hasOwn(required, name)) continue;
    const expected = check(value[name]);
    if (expected === undefined) continue;
    throw refusal(where, `: ${name} must be ${expected}, but is ${JSON.stringify(value[name])}`);
  }
  checkNames(value, [...free, ...Object.keys(required), ...Object.keys(optional)], where);
}

function checkNames(value: Record<string, unknown>, known: readonly string[], where: string): void {
  const strange = Object.keys(value).find((name) => !known.includes(name));
  if (strange !== undefined) throw refusal(where, `has no field "${strange}": it has ${known.join(", ")}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refusal(where: string, what: string): QuorateError {
  return new QuorateError("INVALID_ARGUMENT", `${where}${what.startsWith(":") ? "" : " "}${what}.`);
}
