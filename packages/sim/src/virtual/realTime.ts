/**
 * Finds real timers in code that runs in virtual time: virtual time does not wait for them, so what comes of it would
 * differ from run to run.
 *
 * What stands in their place lets everybody else through: only calls that come from within a run are refused. What a
 * module has taken for itself before a run, and whatever waits for files or sockets, is not seen.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import { QuorateError } from "@quorate/raft";

interface Trapped {
  readonly name: string;
  readonly owner: object;
  readonly key: string;
}

const timerKeys = ["setTimeout", "setInterval", "setImmediate"] as const;

const trapped: readonly Trapped[] = [
  ...timerKeys.map((key) => ({ name: key, owner: globalThis, key })),
  ...timerKeys.map((key) => ({ name: `${key} of node:timers`, owner: timers, key })),
  ...timerKeys.map((key) => ({ name: `${key} of node:timers/promises`, owner: timersPromises, key })),
  { name: "AbortSignal.timeout", owner: AbortSignal, key: "timeout" },
];

/** Told of the error that a caller within a run gets. */
type Noticed = (error: QuorateError) => void;

const running = new AsyncLocalStorage<Noticed | undefined>();
let runs = 0;
let real: readonly (PropertyDescriptor | undefined)[] = [];

/** Runs `body`; a real timer that it, or what it begins, asks for is refused, and `noticed`. */
export async function refusingRealTime<T>(noticed: Noticed, body: () => Promise<T>): Promise<T> {
  runs += 1;
  if (runs === 1) setTraps();
  try {
    return await running.run(noticed, body);
  } finally {
    runs -= 1;
    if (runs === 0) removeTraps();
  }
}

/** What `fn` and what it begins do may be real. */
export function inRealTime<T>(fn: () => T): T {
  return running.run(undefined, fn);
}

function setTraps(): void {
  real = trapped.map(({ owner, key }) => Object.getOwnPropertyDescriptor(owner, key));
  for (const { name, owner, key } of trapped) {
    const value = new Proxy(Reflect.get(owner, key) as (...given: unknown[]) => unknown, {
      apply(target, self, given): unknown {
        const noticed = running.getStore();
        if (noticed === undefined) return Reflect.apply(target, self, given);
        const error = new QuorateError(
          "INVALID_OPTIONS",
          `${name} was called in virtual time, which does not wait for real time. Wait with world.sleep(ms) in a ` +
            "test, with cluster.clock.after(ms, fn) in the code under test, and do what has to be real within " +
            "world.outside(fn).",
        );
        noticed(error);
        throw error;
      },
    });
    Object.defineProperty(owner, key, { value, configurable: true, enumerable: true, writable: true });
  }
  syncBuiltinESMExports();
}

function removeTraps(): void {
  for (const [at, { owner, key }] of trapped.entries()) {
    const descriptor = real[at];
    if (descriptor === undefined) Reflect.deleteProperty(owner, key);
    else Object.defineProperty(owner, key, descriptor);
  }
  syncBuiltinESMExports();
}
