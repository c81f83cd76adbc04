/** What is waited for in a run, so that one that does not end can tell it. Changes nothing in what is called. */

export interface Waiting {
  readonly who: string;
  readonly what: string;
  readonly sinceMs: number;
}

export class PendingCalls {
  readonly waiting: Set<Waiting> = new Set();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  async follow<T>(who: string, what: string, promise: Promise<T>): Promise<T> {
    const waiting = { who, what, sinceMs: this.#nowMs() };
    this.waiting.add(waiting);
    try {
      return await promise;
    } finally {
      this.waiting.delete(waiting);
    }
  }

  /** `object` as it is, with every call of it that gives a promise followed, and those of the objects in it. */
  watched<T extends object>(who: string, object: T, path: string = ""): T {
    const members = new Map<PropertyKey, unknown>();
    return new Proxy(object, {
      get: (target, key) => {
        if (!members.has(key)) {
          const value: unknown = Reflect.get(target, key, target);
          members.set(key, this.#watchedMember(who, target, `${path}${String(key)}`, value));
        }
        return members.get(key);
      },
    });
  }

  #watchedMember(who: string, owner: object, name: string, value: unknown): unknown {
    if (isGroup(value)) return this.watched(who, value, `${name}.`);
    if (typeof value !== "function") return value;
    return (...given: unknown[]): unknown => {
      const result: unknown = Reflect.apply(value, owner, given);
      const call = `${name}(${wordOf(given[0])})`;
      if (result instanceof Promise) return this.follow(who, call, result);
      return recipes.has(name) ? this.watched(who, result as object, `${call}.`) : result;
    };
  }
}

/** They give objects whose calls are waited for in their turn. */
const recipes: ReadonlySet<string> = new Set(["election", "lock"]);

/** A plain object of functions, such as `cluster.kv`. A clock keeps its own identity. */
function isGroup(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** The first argument is the key, or the name: enough to find the call. */
function wordOf(argument: unknown): string {
  if (typeof argument === "string") return JSON.stringify(argument);
  if (Array.isArray(argument)) return `[${argument.map(wordOf).join(", ")}]`;
  return argument === undefined ? "" : "…";
}
