/** What the tests of the transport share: a deadline, virtual time, and a node's side of a transport. */
import type {
  Cancel,
  Clock,
  CloseCause,
  LogFields,
  Logger,
  MemberId,
  PeerHello,
  PeerMessage,
  Random,
  Refusal,
  TransportHandlers,
} from "@quorate/raft";
import { asTerm } from "@quorate/raft";

const deadlineMs = 10_000;

/** The promise, or a rejection if it takes too long. */
export async function deadline<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${deadlineMs} ms`)), deadlineMs);
  });
  try {
    return await Promise.race([promise, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until the condition holds, looking again after each turn of the event loop. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`not seen within ${deadlineMs} ms: ${what}`);
    await turn();
  }
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets everything happen that needs no time to pass. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await turn();
}

export interface VirtualClock extends Clock {
  /** Lets time pass, step by step from timer to timer, and everything happen in between. */
  pass(durationMs: number): Promise<void>;
  readonly timers: number;
}

export function virtualClock(): VirtualClock {
  let nowMs = 1_000;
  let timers: { dueMs: number; fn: () => void }[] = [];
  return {
    nowMs: () => nowMs,
    bootMs: () => nowMs,
    after(delayMs, fn): Cancel {
      const timer = { dueMs: nowMs + delayMs, fn };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    defer: (fn) => void setImmediate(fn),
    async pass(durationMs) {
      const endMs = nowMs + durationMs;
      await settle();
      for (;;) {
        const next = timers.filter(({ dueMs }) => dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs)[0];
        if (next === undefined) break;
        timers = timers.filter((each) => each !== next);
        nowMs = next.dueMs;
        next.fn();
        await settle();
      }
      nowMs = endMs;
    },
    get timers() {
      return timers.length;
    },
  };
}

/** A generator with a seed, so that a test is the same every time. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    uint32() {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state;
    },
  };
}

export interface LogLine {
  readonly level: keyof Logger;
  readonly message: string;
  readonly fields: LogFields;
}

export function recordingLogger(): { logger: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const record = (level: keyof Logger) => (fields: LogFields, message: string) => {
    lines.push({ level, message, fields });
  };
  return {
    logger: { debug: record("debug"), info: record("info"), warn: record("warn"), error: record("error") },
    lines,
  };
}

export function member(node: string, incarnation = 1): MemberId {
  return `${node}.${incarnation.toString(16).padStart(16, "0")}` as MemberId;
}

/** What a node sees of its transport, in order. */
export interface Seen {
  linked: MemberId[];
  received: { from: MemberId; sequence: number; messages: readonly PeerMessage[] }[];
  lost: { peer: MemberId; cause: CloseCause }[];
  refusedBy: { node: string; refusal: Refusal }[];
}

export interface NodeSide {
  readonly seen: Seen;
  readonly handlers: TransportHandlers;
}

export function nodeSide(hello: () => PeerHello, admit: (peer: PeerHello) => Refusal | undefined): NodeSide {
  const seen: Seen = { linked: [], received: [], lost: [], refusedBy: [] };
  return {
    seen,
    handlers: {
      hello,
      sequence: () => hello().sequence,
      admit,
      linked: (peer) => void seen.linked.push(peer.member),
      received: (from, sequence, messages) => void seen.received.push({ from, sequence, messages }),
      unlinked: () => undefined,
      lost: (peer, cause) => void seen.lost.push({ peer, cause }),
      refusedBy: (node, refusal) => void seen.refusedBy.push({ node, refusal }),
    },
  };
}

export function heartbeat(token: number): PeerMessage {
  return { kind: "heartbeat", term: asTerm(3), session: 1, commitIndex: 0 as never, token };
}
