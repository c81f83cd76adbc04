/**
 * A verdict in words, for the one who has to find the bug: how far a legal order went, and what cannot
 * follow.
 *
 * Long histories are cut to their end, which is where the trouble is.
 */
import { inspect } from "node:util";
import type { Model } from "./model.ts";
import type { Operation } from "./operation.ts";
import type { IllegalVerdict, Verdict } from "./verdict.ts";

const shownOperations = 12;

/** Several lines, without a line break at the end. */
export function explain<S, I, O>(model: Model<S, I, O>, verdict: Verdict<S, I, O>): string {
  const { operations, parts, steps } = verdict.effort;
  const effort = `${operations} operations on ${parts} object(s), ${steps} steps`;
  switch (verdict.kind) {
    case "linearizable":
      return `Linearizable: every ${model.name} has a legal order (${effort}).`;
    case "unknown":
      return (
        `Not decided whether this history of a ${model.name} is linearizable: the bound on ` +
        `${verdict.reason} was met (${effort}), with ${objectsInWords(verdict.objects)} open. That is no pass. ` +
        "Record shorter histories or fewer concurrent clients for each object, write values that differ, " +
        "avoid unknown outcomes, or raise " +
        `${verdict.reason === "memory" ? "maxMemoryBytes" : "maxSteps"}.`
      );
    case "illegal":
      return illegalInWords(model, verdict, effort);
  }
}

function illegalInWords<S, I, O>(
  model: Model<S, I, O>,
  verdict: IllegalVerdict<S, I, O>,
  effort: string,
): string {
  const { blocked, candidates, longest, state } = verdict;
  const placed = longest.operations;
  const cut = Math.max(placed.length - shownOperations, 0);
  const where = longest.object === "" ? "" : ` ${inspect(longest.object)}`;
  return [
    `Not linearizable: no order of the operations on this ${model.name}${where} is legal (${effort}).`,
    `The longest legal order has ${placed.length} operations${cut > 0 ? `; its last ${shownOperations}` : ""}:`,
    ...placed.slice(cut).map((operation) => `  ${inWords(operation)}`),
    `and leads to the state ${oneLine(state)}. Before the next return, that of client ${blocked.client}, ` +
      "one of these would have to follow, and no way on from any of them fits:",
    ...candidates.slice(0, shownOperations).map((operation) => `  ${inWords(operation)}`),
    ...(candidates.length > shownOperations ? [`  and ${candidates.length - shownOperations} more`] : []),
  ].join("\n");
}

function inWords<I, O>({ calledAt, client, end, input }: Operation<I, O>): string {
  const outcome = end.kind === "ok" ? `→ ${oneLine(end.output)}` : `→ ${end.kind}`;
  const until = end.kind === "ok" ? `${end.at}` : "";
  return `[${calledAt}..${until}] client ${client}: ${oneLine(input)} ${outcome}`;
}

function objectsInWords(objects: readonly string[]): string {
  if (objects.length === 1 && objects[0] === "") return "all of it";
  const named = objects.slice(0, 3).map((name) => inspect(name));
  return `${objects.length} object(s) (${named.join(", ")}${objects.length > 3 ? ", …" : ""})`;
}

function oneLine(value: unknown): string {
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 4 });
}
