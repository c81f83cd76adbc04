/**
 * Notices when a state machine asks for real time, for chance or for more time: what comes of that differs between
 * replicas, and between a first run and its replay.
 *
 * What stands in the way of a call is there for one synchronous call only, and gone when it ends. What a module took
 * for itself before, such as `randomBytes` of `node:crypto`, is not seen.
 */
interface Trapped {
  readonly name: string;
  readonly owner: object;
  readonly key: string;
}

const trapped: readonly Trapped[] = [
  { name: "Date.now", owner: Date, key: "now" },
  { name: "new Date", owner: globalThis, key: "Date" },
  { name: "Math.random", owner: Math, key: "random" },
  { name: "performance.now", owner: performance, key: "now" },
  { name: "crypto.randomUUID", owner: crypto, key: "randomUUID" },
  { name: "crypto.getRandomValues", owner: crypto, key: "getRandomValues" },
  { name: "setTimeout", owner: globalThis, key: "setTimeout" },
  { name: "setInterval", owner: globalThis, key: "setInterval" },
  { name: "setImmediate", owner: globalThis, key: "setImmediate" },
];

type Callable = new (...given: unknown[]) => object;

/** Runs it, and tells what of real time and chance it asked for. */
export function withRealTimeNoticed<T>(run: () => T, noticed: (name: string) => void): T {
  const real = trapped.map(({ owner, key }) => Object.getOwnPropertyDescriptor(owner, key));
  for (const { name, owner, key } of trapped) {
    const value = new Proxy(Reflect.get(owner, key) as Callable, {
      apply(target, self, given): unknown {
        noticed(name);
        return Reflect.apply(target as unknown as () => unknown, self, given);
      },
      construct(target, given, newTarget): object {
        // A date of a given time is as good as any other value.
        if (given.length === 0) noticed(name);
        return Reflect.construct(target, given, newTarget);
      },
    });
    Object.defineProperty(owner, key, { value, configurable: true, writable: true });
  }
  try {
    return run();
  } finally {
    for (const [at, { owner, key }] of trapped.entries()) {
      const descriptor = real[at];
      if (descriptor === undefined) Reflect.deleteProperty(owner, key);
      else Object.defineProperty(owner, key, descriptor);
    }
  }
}
