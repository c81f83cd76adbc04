/** What `quorate sim` was asked to do, checked. */
import type { Layer, ProfileName, Schedule } from "@quorate/sim";
import type { GivenOptions } from "../arguments.ts";
import type { OptionName } from "../commandTable.ts";
import { durationOption, integerOption, textOption } from "../optionValues.ts";
import { UsageError } from "../usageError.ts";

export interface SimOptions {
  readonly from: number;
  readonly to: number;
  readonly nodes: number;
  readonly profile: ProfileName;
  readonly layer: Layer;
  readonly durationMs: number;
  readonly maxEvents: number | undefined;
  readonly replay: string | undefined;
  readonly minimize: boolean;
  readonly html: string | undefined;
  readonly json: boolean;
}

const lastSeed = 0xffff_ffff;

/** `profiles`: the names that there are. */
export function simOptions(options: GivenOptions, profiles: readonly ProfileName[]): SimOptions {
  if (options.replay !== undefined) {
    const decided: OptionName[] = ["seed", "seeds", "nodes", "profile", "layer", "events", "time"];
    const given = decided.find((name) => options[name] !== undefined);
    if (given !== undefined)
      throw new UsageError(`--${given} does not go with --replay: the file decides it.`);
  }
  const seed = integerOption(options, "seed", { from: 0, to: lastSeed });
  if (seed !== undefined && options.seeds !== undefined) {
    throw new UsageError("--seed and --seeds do not go together: one seed, or a range of them.");
  }
  if (options.html !== undefined && seed === undefined && options.replay === undefined) {
    throw new UsageError("--html shows one run: give --seed or --replay with it.");
  }
  const [from, to] = seed === undefined ? seedRange(textOption(options, "seeds") ?? "1..100") : [seed, seed];
  return {
    from,
    to,
    nodes: Number(oneOf(options, "nodes", ["3", "5", "7"]) ?? 5),
    profile: oneOf(options, "profile", profiles) ?? "swarm",
    layer: oneOf(options, "layer", ["store", "raft", "core"]) ?? "store",
    durationMs: durationOption(options, "time") ?? 8_000,
    maxEvents: integerOption(options, "events", { from: 1, to: 1_000_000_000 }),
    replay: textOption(options, "replay"),
    minimize: options.minimize === true,
    html: textOption(options, "html"),
    json: options.json === true,
  };
}

/** A state machine of somebody's own is code, and no file holds it. */
export function requireOwnOperations({ operations = [] }: Pick<Schedule, "operations">, file: string): void {
  if (operations.every(({ operation }) => operation.kind !== "command")) return;
  throw new UsageError(
    `${file} holds commands for a state machine of its own, which only a program has: replay it from there, with ` +
      "simulate({ schedule: readSchedule(text), machine }) of @quorate/sim.",
  );
}

function seedRange(text: string): readonly [from: number, to: number] {
  const match = /^(\d{1,10})\.\.(\d{1,10})$/.exec(text);
  const from = Number(match?.[1]);
  const to = Number(match?.[2]);
  if (match !== null && from <= to && to <= lastSeed && to - from < 1_000_000) return [from, to];
  throw new UsageError(`--seeds must be a range such as 1..1000, a million seeds at most, but is "${text}".`);
}

function oneOf<T extends string>(
  options: GivenOptions,
  name: OptionName,
  values: readonly T[],
): T | undefined {
  const text = textOption(options, name);
  const found = values.find((value) => value === text);
  if (text === undefined || found !== undefined) return found;
  throw new UsageError(`--${name} must be one of ${values.join(", ")}, but is "${text}".`);
}
