/**
 * A watch for those who have HTTP alone: a request that is answered when something has changed.
 *
 *     GET /v1/watch?prefix=jobs/                 ─► { "events": [], "next": 125 }          where a watch begins
 *     GET /v1/watch?prefix=jobs/&from=125        ─► { "events": [ … ], "next": 131 }       as soon as there are some
 *     GET /v1/watch?prefix=jobs/&from=131        …
 *
 * `next` is what to ask for next: whoever does so is told of each change once, in order, and of none too few.
 */
import type { ChangeEvent, KeySet, KeyValue, KeyValueStore, Watch, WatchEvent } from "@quorate/client";
import { CompactedError } from "@quorate/client/internal";
import { type Clock, QuorateError } from "@quorate/raft";
import type { Page, PageRequest } from "@quorate/transport";

export interface WatchPageSources {
  readonly kv: KeyValueStore;
  readonly clock: Clock;
}

interface Asked {
  readonly keys: KeySet;
  /** Undefined: only where a watch would begin. */
  readonly from: number | undefined;
  readonly timeoutMs: number;
}

const defaultTimeoutMs = 30_000;
const maxTimeoutMs = 300_000;
/** Whole revisions up to this many changes, or bytes of values; one revision is never cut. */
const maxEvents = 1_000;
const maxBytes = 1_048_576;

export async function watchPage(sources: WatchPageSources, { query, signal }: PageRequest): Promise<Page> {
  try {
    const asked = readQuery(query);
    return json(200, await changes(sources, asked, signal));
  } catch (error) {
    if (!(error instanceof QuorateError)) throw error;
    const { code, message, retryable } = error;
    const floor = error instanceof CompactedError ? { floor: error.floor } : {};
    return json(statusOf(code), { error: { code, message, retryable, ...floor } });
  }
}

async function changes({ kv, clock }: WatchPageSources, asked: Asked, signal: AbortSignal): Promise<object> {
  const { keys, from } = asked;
  const watch = kv.watch(keys, { ...(from === undefined ? {} : { from }), progress: true, signal });
  try {
    return await collected(watch, asked, clock);
  } finally {
    await watch.return();
  }
}

async function collected(
  watch: Watch<WatchEvent>,
  { from, timeoutMs }: Asked,
  clock: Clock,
): Promise<object> {
  if (from === undefined) return { events: [], next: (await watch.started({ timeoutMs })).revision + 1 };
  const events: ChangeEvent[] = [];
  let next = from;
  let whole = 0;
  let bytes = 0;
  const endMs = clock.nowMs() + timeoutMs;
  for (;;) {
    // What has arrived already is taken along; only for the first of them is it worth waiting.
    const waitMs = whole > 0 ? 0 : endMs - clock.nowMs();
    const event = await within(watch.next(), waitMs, clock);
    if (event?.value === undefined) break;
    if (event.value.kind !== "progress") events.push(event.value);
    if (event.value.kind === "put") bytes += event.value.entry.bytes.length;
    if (event.value.kind === "progress" || event.value.last) {
      next = event.value.revision + 1;
      whole = events.length;
    }
    if (whole >= maxEvents || (bytes >= maxBytes && whole === events.length)) break;
  }
  return { events: events.slice(0, whole).map(eventAsJson), next };
}

/** Undefined where it takes longer. */
function within<T>(result: Promise<T>, limitMs: number, clock: Clock): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(Math.max(0, limitMs), () => resolve(undefined));
    result.then(resolve, reject).finally(cancel);
  });
}

function readQuery(query: URLSearchParams): Asked {
  const [key, prefix] = [query.get("key"), query.get("prefix")];
  if ((key === null) === (prefix === null)) {
    throw new QuorateError("INVALID_ARGUMENT", "Say what to watch: ?key=KEY or ?prefix=PREFIX, one of them.");
  }
  return {
    keys: key ?? { prefix: prefix ?? "" },
    from: wholeNumber(query, "from", 1, Number.MAX_SAFE_INTEGER),
    timeoutMs: wholeNumber(query, "timeoutMs", 0, maxTimeoutMs) ?? defaultTimeoutMs,
  };
}

function wholeNumber(query: URLSearchParams, name: string, min: number, max: number): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new QuorateError("INVALID_ARGUMENT", `${name} is "${text}", and goes from ${min} to ${max}.`);
}

function statusOf(code: string): number {
  switch (code) {
    case "INVALID_ARGUMENT":
    case "TOO_LARGE":
      return 400;
    case "COMPACTED":
      return 410;
    default:
      return 503;
  }
}

function eventAsJson(event: ChangeEvent): object {
  const { kind, key, revision } = event;
  return event.kind === "put"
    ? { kind, key, revision, ...entryAsJson(event.entry) }
    : { kind, key, revision };
}

/** Bytes are written in base64; `format` tells. */
function entryAsJson({ format, bytes, value, createRevision, version }: KeyValue): object {
  const shown = format === "bytes" ? Buffer.from(bytes).toString("base64") : value;
  return { value: shown, format, createRevision, version };
}

function json(status: number, body: object): Page {
  return { status, contentType: "application/json", body: `${JSON.stringify(body)}\n` };
}
