/** State machines with bugs put in, as users write them, and sound ones to compare them with. */
import type { Entry, StateMachine } from "@quorate/raft";
import { type Model, unanswered } from "@quorate/sim";
import fc, { type Arbitrary } from "fast-check";

export interface Increment {
  readonly by: number;
}

export const increments: Arbitrary<Increment> = fc.record({ by: fc.integer({ min: 1, max: 9 }) });

export function decoded<Command>({ data, kind }: Entry): Command | undefined {
  return kind === "command" ? (JSON.parse(new TextDecoder().decode(data)) as Command) : undefined;
}

/** Sound, unless `amount` is not. */
export class Counter implements StateMachine<number> {
  value = 0;
  private readonly amount: (by: number) => number;

  constructor(amount: (by: number) => number = (by) => by) {
    this.amount = amount;
  }

  apply(entry: Entry): number {
    this.value += this.amount(decoded<Increment>(entry)?.by ?? 0);
    return this.value;
  }
}

/** Keeps its value on its own disk, and is then given the whole log once more. */
export class RestoredCounter implements StateMachine<number> {
  value: number;
  private readonly disk: Map<string, unknown>;

  constructor(disk: Map<string, unknown>) {
    this.disk = disk;
    this.value = (disk.get("value") as number | undefined) ?? 0;
  }

  apply(entry: Entry): number {
    this.value += decoded<Increment>(entry)?.by ?? 0;
    this.disk.set("value", this.value);
    return this.value;
  }
}

/** Keeps what it has applied on its own disk, with the index up to which that is, and skips what is in there. */
export class SavingCounter implements StateMachine<number> {
  value: number;
  appliedIndex: number;
  private readonly disk: Map<string, unknown>;
  private readonly skips: boolean;

  constructor(disk: Map<string, unknown>, skips: boolean = true) {
    this.disk = disk;
    this.skips = skips;
    [this.value, this.appliedIndex] = (disk.get("saved") as [number, number] | undefined) ?? [0, 0];
  }

  apply(entry: Entry): number {
    if (this.skips && entry.index <= this.appliedIndex) return this.value;
    this.value += decoded<Increment>(entry)?.by ?? 0;
    this.appliedIndex = entry.index;
    this.disk.set("saved", [this.value, this.appliedIndex]);
    return this.value;
  }
}

export interface Request extends Increment {
  readonly id: number;
}

/** Every request has an id of its own, as a client's session gives it. */
export function requests(): Arbitrary<Request> {
  return fc.record({ id: fc.noBias(fc.noShrink(fc.nat(0x7fff_ffff))), by: fc.integer({ min: 1, max: 9 }) });
}

/** Answers a repetition with what it answered first; `remembered` ids at most. */
export class SessionCounter implements StateMachine<number> {
  value = 0;
  private readonly answers = new Map<number, number>();
  private readonly remembered: number;

  constructor(remembered: number) {
    this.remembered = remembered;
  }

  apply(entry: Entry): number {
    const request = decoded<Request>(entry);
    if (request === undefined) return this.value;
    const answered = this.answers.get(request.id);
    if (answered !== undefined) return answered;
    this.value += request.by;
    this.answers.set(request.id, this.value);
    if (this.answers.size > this.remembered) this.answers.delete([...this.answers.keys()][0] as number);
    return this.value;
  }
}

export const counterModel: Model<number, Increment, number> = {
  name: "counter",
  initial: 0,
  step(state, { by }, output) {
    return output === unanswered || output === state + by ? state + by : undefined;
  },
  key: (state) => state,
};
