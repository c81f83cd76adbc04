/**
 * A state machine of the user's own, as the simulator takes it: how it starts, what of it is its state, and what must
 * hold of it. In the simulated cluster it stands where a service has it: behind the runtime, the log and the links.
 */
import type { StateMachine } from "@quorate/raft";
import type { Model } from "../checker/model.ts";

/** Where and when a machine starts. */
export interface MachineStart {
  /** a, b, c … */
  readonly node: string;
  /** 1 at the first start of the node's process, 2 after its first restart … */
  readonly start: number;
  /**
   * What the machine keeps outside of itself, say in a file of its own: there again after a restart of the node, gone
   * with its directory, and empty at the beginning of each run.
   */
  readonly disk: Map<string, unknown>;
}

type Machine = StateMachine<unknown>;

/** Of whatever commands and class: for what hands one on without a look at either. */
// biome-ignore lint/suspicious/noExplicitAny: each is good for its own commands alone, and is given no others.
export type AnyMachineUnderTest = MachineUnderTest<any, any>;

/** What a machine makes of a command. */
export type ResultOf<M extends Machine> = ReturnType<M["apply"]>;

/** A command that a node has just applied, in its log's order. */
export interface AppliedCommand<Command, Result> {
  readonly command: Command;
  readonly result: Result;
  readonly index: number;
  readonly node: string;
  /** All that this start of the node has been given, this one last; what it had saved before is among them. */
  readonly commands: readonly Command[];
}

export interface MachineUnderTest<Command = unknown, M extends Machine = Machine> {
  /** Called at every start of a node's process; the log is then applied to it from the first entry on. */
  machine(start: MachineStart): M;
  /**
   * What replicas that have applied the same must agree on. Told apart as `util.inspect` shows it: plain data, maps
   * and sets, without private fields.
   */
  state(machine: M): unknown;
  /**
   * For a machine that starts from what it saved on its `disk`: the index of the last entry that is in there, 0 for
   * none. Asked once, at each start. The replay is to change nothing up to this entry, whose state is what the machine
   * must start in; it is compared entry by entry from the next one on. Default 0: each start begins with nothing.
   */
  appliedIndex?(machine: M): number;
  /** The bytes that are replicated for a command; equal bytes are taken for equal commands. Default: JSON, in UTF-8. */
  encode?(command: Command): Uint8Array;
  /**
   * Called after each command that was not in the saved state. Violated if it returns false or throws; it must not
   * change the machine.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: one that throws returns nothing.
  invariant?(machine: M, applied: AppliedCommand<Command, ResultOf<M>>): boolean | void;
  /**
   * The sequential object that clients must take the cluster for: what they were told is checked for linearizability at
   * the end of each run.
   */
  // biome-ignore lint/suspicious/noExplicitAny: a model's state is nobody's business but its own.
  readonly model?: Model<any, Command, ResultOf<M>>;
  /**
   * How often a client sends a command again whose outcome it does not know, at most; for machines that recognise a
   * repetition. Default 0. A command that certainly had no effect is always sent again, within its client's patience.
   */
  readonly retries?: number;
}

export function encodeAsJson(command: unknown): Uint8Array {
  const text = JSON.stringify(command);
  return new TextEncoder().encode(text ?? "null");
}
