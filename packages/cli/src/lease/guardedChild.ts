/**
 * A command that runs as long as a lease is held: started in a process group of its own, given the signals that this
 * process is given, asked to end when the lease is in danger and killed at its deadline, with all that it started.
 *
 * The deadline lies before the cluster can grant the lease to anybody else. A process that is itself stopped kills
 * nobody: against that only fencing helps, with the term that the command finds in `QUORATE_TERM`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { passedOn } from "./interruption.ts";

/** What the command needs of the lease. */
export interface Holding {
  readonly term: number;
  /** Until the deadline, by this process's clock; grows with each renewal; 0 where it is lost. */
  remainingMs(): number;
  /** Aborts when it is lost. */
  readonly signal: AbortSignal;
  /** Aborts when somebody asks for it, or it was broken: it is to be given back, and no time is set. */
  readonly handoverSignal: AbortSignal;
}

export interface GuardedCommand {
  readonly words: readonly [command: string, ...args: string[]];
  readonly environment: NodeJS.ProcessEnv;
  /** So long before the deadline it is asked to end (SIGTERM). */
  readonly graceMs: number;
}

export type Ending =
  | { readonly kind: "exited"; readonly code: number }
  /** The lease was in danger or lost, and the command was ended for it. */
  | { readonly kind: "lost" }
  | { readonly kind: "notStarted"; readonly code: 126 | 127; readonly message: string };

/** The kill is sent so long before the deadline: a timer may be late, and a process takes a moment to go. */
const killMs = 25;

/** Resolves when no process of the command's is left that could be killed. */
export async function runGuarded(holding: Holding, command: GuardedCommand): Promise<Ending> {
  const [program, ...args] = command.words;
  // Before there is a command: a signal that came in between would end this process alone, and leave it unguarded.
  const begun: { child?: ChildProcess } = {};
  const forget = forwardSignals((signal) => {
    if (begun.child !== undefined) signalGroup(begun.child, signal);
  });
  let child: ChildProcess;
  try {
    child = spawn(program, args, { stdio: "inherit", detached: true, env: command.environment });
  } catch (error) {
    forget();
    // An empty name, say, or more words than the system takes.
    return notStarted(error as NodeJS.ErrnoException);
  }
  begun.child = child;
  // Listened to before anything is waited for, so that no end is missed.
  const ended = endOf(child);
  const watch = new DeadlineWatch(holding, command.graceMs, (signal) => signalGroup(child, signal));
  try {
    const ending = await ended;
    if (ending.kind === "exited" && (watch.hasActed || holding.remainingMs() <= 0)) {
      // What it started is in its group, and the lease is not ours for long any more.
      signalGroup(child, "SIGKILL");
      return { kind: "lost" };
    }
    return ending;
  } finally {
    watch.stop();
    forget();
  }
}

/** Looks at the deadline again whenever it could have come near, since every renewal moves it. */
class DeadlineWatch {
  /** Whether the command was told to end. */
  hasActed = false;
  readonly #holding: Holding;
  readonly #graceMs: number;
  readonly #act: (signal: "SIGTERM" | "SIGKILL") => void;
  #timer: NodeJS.Timeout | undefined;
  /** Once asked to end, it has until the deadline as it was: no renewal takes that back, for it may be half ended. */
  #killAtMs: number = Number.POSITIVE_INFINITY;

  constructor(holding: Holding, graceMs: number, act: (signal: "SIGTERM" | "SIGKILL") => void) {
    this.#holding = holding;
    this.#graceMs = Math.max(graceMs, killMs);
    this.#act = act;
    holding.signal.addEventListener("abort", this.#look);
    holding.handoverSignal.addEventListener("abort", this.#look);
    this.#look();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#holding.signal.removeEventListener("abort", this.#look);
    this.#holding.handoverSignal.removeEventListener("abort", this.#look);
  }

  readonly #look = (): void => {
    clearTimeout(this.#timer);
    const nowMs = performance.now();
    const heldMs = this.#holding.signal.aborted ? 0 : this.#holding.remainingMs();
    const remainingMs = Math.min(heldMs, this.#killAtMs - nowMs);
    if (remainingMs <= killMs) {
      this.hasActed = true;
      this.#act("SIGKILL");
      return;
    }
    const isInDanger = remainingMs <= this.#graceMs;
    if (isInDanger) this.#killAtMs = Math.min(this.#killAtMs, nowMs + remainingMs);
    if ((isInDanger || this.#holding.handoverSignal.aborted) && !this.hasActed) {
      this.hasActed = true;
      this.#act("SIGTERM");
    }
    const waitMs = Math.max(1, remainingMs - (isInDanger ? killMs : this.#graceMs));
    this.#timer = setTimeout(this.#look, waitMs);
  };
}

function notStarted({ code, message }: NodeJS.ErrnoException): Ending {
  const isMissing = code === "ENOENT" || code === "ERR_INVALID_ARG_VALUE";
  return { kind: "notStarted", code: isMissing ? 127 : 126, message };
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve(notStarted(error));
    });
    child.once("exit", (code, signal) => {
      resolve({ kind: "exited", code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) });
    });
  });
}

/** To the command and all that it started, unless they went elsewhere. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Nobody is left.
    if (code === "ESRCH") return;
    // Another user's, by sudo say. Its end is waited for all the same, and only fencing protects what it does.
    process.stderr.write(`quorate: The command cannot be sent ${signal} (${message}) and goes on.\n`);
  }
}

function forwardSignals(forward: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of passedOn) process.on(signal, forward);
  return () => {
    for (const signal of passedOn) process.off(signal, forward);
  };
}
