/**
 * Options by their names: one that a call does not take is refused, for whoever wrote it believes that it does
 * something. TypeScript sees most of that; plain JavaScript, and an object that was put together elsewhere, nothing.
 *
 * One that is `undefined` says nothing, and is let pass.
 */
import { QuorateError } from "./errors.ts";

/** Every option of a type, so that the compiler sees to it that none is forgotten. */
export type OptionNames<Options> = Readonly<Record<keyof Options & string, true>>;

export interface TakenOptions {
  /** What they are given to, for people: `election.lead()`. */
  readonly call: string;
  /** By name, whatever the values are. */
  readonly names: object;
  /** Says where else a name belongs, as the rest of a sentence. Undefined: nowhere. */
  readonly placeOf?: (name: string) => string | undefined;
}

/** Throws `INVALID_OPTIONS`, with the name of the first that is not taken and where it belongs. */
export function refuseUnknownOptions(
  given: unknown,
  { call, names, placeOf = () => undefined }: TakenOptions,
): void {
  if (given === undefined) return;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    const found = Array.isArray(given) ? "a list" : given === null ? "null" : `a ${typeof given}`;
    throw invalid(`The options of ${call} are an object, and ${found} was given`);
  }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const near = nearestOf(name, known);
    const all = known.length === 0 ? "it takes none" : `it takes ${known.join(", ")}`;
    const advice = placeOf(name) ?? (near === undefined ? all : `it takes ${near}`);
    throw invalid(`${name} is no option of ${call}: ${advice}`);
  }
}

/** The name that differs least, by one letter in three at most. */
function nearestOf(given: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, edits: edits(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, edits }) => edits <= Math.floor(name.length / 3))
    .toSorted((a, b) => a.edits - b.edits);
  return best?.name;
}

/** Letters to insert, remove or replace until one is the other. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (let at = 0; at < to.length; at += 1) {
      const replaced = (row[at] as number) + (to[at] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] as number) + 1, (next[at] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}

function invalid(sentence: string): QuorateError {
  return new QuorateError("INVALID_OPTIONS", `${sentence}.`);
}
