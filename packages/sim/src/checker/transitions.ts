/**
 * The model, with states as small integers: each state is kept once, and steps taken lately are remembered.
 *
 * Whether two states are equal is then one comparison, and a search that walks the same few states millions
 * of times does not call the model each time.
 */
import { inspect } from "node:util";
import { QuorateError } from "@quorate/raft";
import type { MemoryBudget } from "./memoryBudget.ts";
import { type Model, unanswered } from "./model.ts";
import type { PreparedPart } from "./preparedHistory.ts";

/** In the place of a state: the operation cannot have had its output. */
export const illegalStep = -1;
/** In the place of a state: there is no memory for another one. */
export const noMemory = -2;

const bytesPerState = 160;
const fewestRemembered = 64;
const mostRemembered = 1 << 15;

export class Transitions<S, I, O> {
  private readonly model: Model<S, I, O>;
  private readonly part: PreparedPart<I, O>;
  private readonly budget: MemoryBudget;
  private readonly states: S[] = [];
  private readonly idByKey = new Map<string | number, number>();
  private takenBytes = 0;
  /** Of the last step with this hash: state × sorts + sort, and what it led to. */
  private readonly rememberedSteps: Float64Array;
  private readonly rememberedStates: Int32Array;

  constructor(model: Model<S, I, O>, part: PreparedPart<I, O>, budget: MemoryBudget) {
    this.model = model;
    this.part = part;
    this.budget = budget;
    let size = fewestRemembered;
    while (size < part.operations.length * 16 && size < mostRemembered) size *= 2;
    this.rememberedSteps = new Float64Array(size).fill(-1);
    this.rememberedStates = new Int32Array(size);
    this.states.push(model.initial);
    this.idByKey.set(model.key(model.initial), 0);
  }

  /** The state after `operation` in `state`, `illegalStep` or `noMemory`. The initial state is 0. */
  next(state: number, operation: number): number {
    const step = state * this.part.operations.length + (this.part.sort[operation] as number);
    const slot = (Math.imul(step % 0x7fffffff, 0x9e3779b1) >>> 8) & (this.rememberedSteps.length - 1);
    if (this.rememberedSteps[slot] === step) return this.rememberedStates[slot] as number;
    const next = this.step(state, operation);
    if (next === noMemory) return next;
    this.rememberedSteps[slot] = step;
    this.rememberedStates[slot] = next;
    return next;
  }

  stateOf(id: number): S {
    return this.states[id] as S;
  }

  release(): void {
    this.budget.give(this.takenBytes);
    this.takenBytes = 0;
    this.states.length = 1;
    this.idByKey.clear();
  }

  private step(state: number, operation: number): number {
    const { model, part } = this;
    const { input } = part.operations[operation] as { input: I };
    const output = part.outputs[operation] as O | typeof unanswered;
    const after = model.step(this.stateOf(state), input, output);
    if (after === undefined) {
      if (output === unanswered) throw this.wrongModel(input, "refuses an unanswered operation: be total");
      return illegalStep;
    }
    const next = this.idOf(after);
    if (part.isRead[operation] && next !== state && next !== noMemory) {
      throw this.wrongModel(input, "calls this a read and changes the state by it");
    }
    return next;
  }

  private idOf(state: S): number {
    const key = this.model.key(state);
    const known = this.idByKey.get(key);
    if (known !== undefined) return known;
    const bytes = bytesPerState + (typeof key === "string" ? key.length * 4 : 0);
    if (!this.budget.take(bytes)) return noMemory;
    this.takenBytes += bytes;
    this.states.push(state);
    this.idByKey.set(key, this.states.length - 1);
    return this.states.length - 1;
  }

  private wrongModel(input: I, complaint: string): QuorateError {
    return new QuorateError(
      "INVALID_ARGUMENT",
      `The model "${this.model.name}" ${complaint}. The input: ${inspect(input)}`,
    );
  }
}
