/** Sessions that hold leases and wait for them, and what the leader's timers say: for tests of the machine. */
import type { Candidacy, Command, CommandResult, DueKind } from "@quorate/client/protocol";
import type { Log } from "./log.ts";

interface AcquireOptions {
  readonly wait?: boolean;
  readonly priority?: number;
  readonly asksHandover?: boolean;
  readonly lockDelayMs?: number;
  readonly preempts?: true;
  readonly candidate?: Candidacy;
}

export function acquireCommand(
  names: readonly string[],
  holder: string,
  options: AcquireOptions = {},
): Command {
  const { wait = true, priority = 0, asksHandover = false, lockDelayMs = 0, ...more } = options;
  return {
    kind: "acquireLease",
    names,
    wait,
    priority,
    asksHandover,
    lockDelayMs,
    ...more,
    holder,
    data: new Uint8Array(0),
    format: "bytes",
  };
}

/** One session, which counts its own sequences. */
export class Party {
  readonly id: number;
  sequence = 0;
  readonly #log: Log;

  constructor(log: Log, ttlMs?: number) {
    this.#log = log;
    this.id = log.openSession(ttlMs);
  }

  run(command: Command, sequence: number = this.next()): CommandResult {
    return this.#log.runIn({ session: this.id, sequence, ackedBelow: 1 }, command);
  }

  next(): number {
    this.sequence += 1;
    return this.sequence;
  }

  acquire(names: string | readonly string[], options: AcquireOptions = {}, sequence?: number): CommandResult {
    const command = acquireCommand(typeof names === "string" ? [names] : names, `party ${this.id}`, options);
    return this.run(command, sequence);
  }

  release(name: string, term: number): CommandResult {
    return this.run({ kind: "releaseLease", lease: { name, term } });
  }

  claim(name: string, term: number): CommandResult {
    return this.run({ kind: "claimLease", lease: { name, term } });
  }
}

export function due(log: Log, what: DueKind, name: string, term: number, office: number = log.term): void {
  log.run({ kind: "leasesDue", office, due: [{ what, name, term }] });
}

/** All of them in one entry. */
export function expire(log: Log, ...parties: Party[]): void {
  const sessions = parties.map(({ id }) => ({ session: id, renewals: 0 }));
  log.run({ kind: "expireSessions", office: log.term, sessions });
}

/** Of a lease that was free. */
export function takenTerm(result: ReturnType<Party["acquire"]>): number {
  if (result.kind !== "leaseGranted") throw new Error(`It was not granted: ${result.kind}`);
  return result.term;
}
