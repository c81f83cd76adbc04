/**
 * One connection to one node, with many requests under way on it.
 *
 * The requests of a turn leave in one frame. Every request ends: answered, certainly not sent, or sent and without an
 * answer. What that means for a write is not decided here. A connection that says nothing while answers are due is
 * asked once more and then given up: a half-open connection looks just like a slow one.
 */
import type { Cancel, Channel, Clock, Network } from "@quorate/raft";
import { readResponses, requestBytes, requestFrames } from "./frames.ts";
import { clientHello, judgeServer, versionOfRequest } from "./hello.ts";
import type { Patience } from "./patience.ts";
import {
  type Failure,
  maxRequestTimeoutMs,
  type Request,
  type RequestBody,
  type ResponseBody,
} from "./protocol/index.ts";

export type Attempt =
  | { readonly kind: "answered"; readonly body: ResponseBody }
  /** It never left this process. */
  | { readonly kind: "unsent"; readonly reason: string }
  /** It may have arrived: the connection was lost, or the patience ended first. */
  | { readonly kind: "unanswered"; readonly reason: string };

export interface ConnectionLimits {
  readonly maxRequests: number;
  readonly maxBufferedBytes: number;
  readonly dialTimeoutMs: number;
  /** A connection that owes answers and is silent for so long is late: those who care look elsewhere beside it. */
  readonly lateMs: number;
  /** A connection that owes answers and is silent for so long is closed; half-way it is asked for a sign of life. */
  readonly silenceMs: number;
  /** A connection with nothing but quiet streams is asked for a sign of life after so long. */
  readonly streamQuietMs: number;
}

export interface ConnectionPorts {
  readonly network: Network;
  readonly clock: Clock;
}

/** What is told of a stream of responses; after `lost`, nothing more is. */
export interface Stream {
  readonly received: (body: ResponseBody) => void;
  readonly lost: (reason: string) => void;
}

export type OpenedStream =
  | { readonly kind: "open"; readonly credit: (consumedBytes: number) => void; readonly close: () => void }
  /** It never left this process. */
  | { readonly kind: "unsent"; readonly reason: string }
  | { readonly kind: "refused"; readonly failure: Failure };

interface Pending {
  readonly finish: (attempt: Attempt) => void;
}

/** They cost next to nothing, so there may be as many more of them. */
const waitsForOneRequest = 8;
/** Answered when something happens: that they are not is no sign of a node that stands still. */
const patient: ReadonlySet<RequestBody["kind"]> = new Set(["awaitSession", "awaitLease"]);

/** Rejects like `Network.dial`, or with the error that `problem` makes of an answer that is none. */
export async function dialNode(
  ports: ConnectionPorts,
  endpoint: string,
  limits: ConnectionLimits,
  signal: AbortSignal,
): Promise<Connection> {
  const { channel, hello } = await ports.network.dial(endpoint, clientHello(), {
    signal,
    timeoutMs: limits.dialTimeoutMs,
  });
  const judged = judgeServer(hello);
  const version = typeof judged === "number" ? judged : 0;
  const connection = new Connection(ports.clock, endpoint, channel, limits, version);
  if (typeof judged === "string") connection.close(`${endpoint} cannot be talked to: ${judged}`);
  return connection;
}

export class Connection {
  readonly endpoint: string;
  readonly #clock: Clock;
  readonly #channel: Channel;
  readonly #limits: ConnectionLimits;
  /** Of the client protocol, as agreed with this node. */
  readonly #version: number;
  readonly #pending: Map<number, Pending> = new Map();
  readonly #streams: Map<number, Stream> = new Map();
  readonly #closeListeners: Set<() => void> = new Set();
  /** Of those pending, the ones whose answers are due. */
  #due = 0;
  #outgoing: Request[] = [];
  #outgoingBytes = 0;
  #flushDeferred = false;
  #nextId = 1;
  #closedBecause: string | undefined;
  readonly #lateListeners: Set<() => void> = new Set();
  #heardMs = 0;
  #isLate = false;
  #probed = false;
  #cancelWatch: Cancel | undefined;

  constructor(clock: Clock, endpoint: string, channel: Channel, limits: ConnectionLimits, version: number) {
    this.endpoint = endpoint;
    this.#version = version;
    this.#clock = clock;
    this.#channel = channel;
    this.#limits = limits;
    channel.open({
      frame: (bytes) => this.#receive(bytes),
      closed: (_cause, reason) => this.#end(reason),
    });
  }

  get closedBecause(): string | undefined {
    return this.#closedBecause;
  }

  /** Streams count: they are in use as long as they are open. */
  get requestsUnderWay(): number {
    return this.#pending.size + this.#streams.size;
  }

  /** Calls `fn` once when the connection ends. */
  onClosed(fn: () => void): void {
    if (this.#closedBecause === undefined) this.#closeListeners.add(fn);
    else fn();
  }

  /** Answers are due, and for `lateMs` none came. */
  get isLate(): boolean {
    return this.#isLate && this.#due > 0 && this.#closedBecause === undefined;
  }

  /** Calls `fn` each time that the connection becomes late. */
  onLate(fn: () => void): void {
    this.#lateListeners.add(fn);
  }

  request(body: RequestBody, patience: Patience): Promise<Attempt> {
    if (this.#closedBecause !== undefined) {
      return Promise.resolve({ kind: "unsent", reason: this.#closedBecause });
    }
    if (versionOfRequest(body) > this.#version) {
      return Promise.resolve({
        kind: "answered",
        body: { kind: "failed", failure: unknownTo(this.endpoint) },
      });
    }
    const bytes = requestBytes(body);
    const { maxRequests, maxBufferedBytes } = this.#limits;
    const isFull =
      (patient.has(body.kind)
        ? this.#pending.size - this.#due >= waitsForOneRequest * maxRequests
        : this.#due >= maxRequests) ||
      this.#channel.bufferedBytes + this.#outgoingBytes + bytes > maxBufferedBytes;
    if (isFull) {
      const reason = `${this.endpoint} has as many requests under way as one connection takes`;
      return Promise.resolve({ kind: "unsent", reason });
    }
    return this.#enqueue(body, bytes, patience);
  }

  /** A request that is answered by a stream of responses. */
  openStream(body: RequestBody, stream: Stream): OpenedStream {
    if (this.#closedBecause !== undefined) return { kind: "unsent", reason: this.#closedBecause };
    if (versionOfRequest(body) > this.#version) return { kind: "refused", failure: unknownTo(this.endpoint) };
    const id = this.#nextId++;
    if (this.#pending.size + this.#streams.size === 0) this.#noteSignOfLife();
    this.#streams.set(id, stream);
    this.#post({ id, timeoutMs: 1, body });
    this.#watch();
    return {
      kind: "open",
      credit: (consumedBytes) => this.#tell({ kind: "watchCredit", watch: id, consumedBytes }),
      close: () => {
        if (this.#streams.delete(id)) this.#tell({ kind: "unwatch", watch: id });
      },
    };
  }

  /** Of what is not answered. */
  #tell(body: RequestBody): void {
    if (this.#closedBecause === undefined) this.#post({ id: this.#nextId++, timeoutMs: 1, body });
  }

  #post(request: Request): void {
    this.#outgoing.push(request);
    this.#outgoingBytes += requestBytes(request.body);
    this.#deferFlush();
  }

  close(reason: string): void {
    if (this.#closedBecause !== undefined) return;
    this.#end(reason);
    this.#channel.close(reason.slice(0, 120));
  }

  #enqueue(body: RequestBody, bytes: number, patience: Patience): Promise<Attempt> {
    const id = this.#nextId++;
    const due = patient.has(body.kind) ? 0 : 1;
    return new Promise((resolve) => {
      let cancelEnd: Cancel | undefined;
      let isOver = false;
      const finish = (attempt: Attempt): void => {
        isOver = true;
        if (this.#pending.delete(id)) this.#due -= due;
        cancelEnd?.();
        resolve(attempt);
      };
      if (this.#due === 0) {
        this.#noteSignOfLife();
        this.#cancelWatch?.();
        this.#cancelWatch = undefined;
      }
      this.#pending.set(id, { finish });
      this.#due += due;
      this.#outgoing.push({ id, timeoutMs: Math.min(patience.remainingMs, maxRequestTimeoutMs), body });
      this.#outgoingBytes += bytes;
      cancelEnd = patience.onEnd(() => finish(this.#withdraw(id)));
      if (isOver) return;
      this.#deferFlush();
      this.#watch();
    });
  }

  /** The caller waits no longer: a request that has not left yet never will. */
  #withdraw(id: number): Attempt {
    const at = this.#outgoing.findIndex((request) => request.id === id);
    if (at < 0) return { kind: "unanswered", reason: `${this.endpoint} did not answer in time` };
    const [request] = this.#outgoing.splice(at, 1);
    if (request !== undefined) this.#outgoingBytes -= requestBytes(request.body);
    return { kind: "unsent", reason: `the request to ${this.endpoint} was given up before it was sent` };
  }

  #deferFlush(): void {
    if (this.#flushDeferred) return;
    this.#flushDeferred = true;
    this.#clock.defer(() => this.#flush());
  }

  #flush(): void {
    this.#flushDeferred = false;
    if (this.#closedBecause !== undefined) return;
    const requests = this.#outgoing;
    this.#outgoing = [];
    this.#outgoingBytes = 0;
    for (const frame of requestFrames(requests)) this.#channel.send(frame);
  }

  #receive(bytes: Uint8Array): void {
    if (this.#closedBecause !== undefined) return;
    this.#noteSignOfLife();
    const responses = readResponses(bytes);
    if (responses === undefined) {
      this.close(`${this.endpoint} sent a frame that is no answer of the client protocol`);
      return;
    }
    for (const { id, body } of responses) {
      const pending = this.#pending.get(id);
      if (pending !== undefined) pending.finish({ kind: "answered", body });
      else if (body.kind === "watchProgress")
        for (const stream of [...this.#streams.values()]) stream.received(body);
      else this.#streams.get(id)?.received(body);
    }
  }

  #noteSignOfLife(): void {
    this.#heardMs = this.#clock.nowMs();
    this.#isLate = false;
    this.#probed = false;
  }

  /** One timer, and only while answers are due or streams are open. */
  #watch(): void {
    if (this.#cancelWatch !== undefined || this.requestsUnderWay === 0) return;
    const { lateMs, silenceMs } = this.#limits;
    const dueMs = this.#isLate ? silenceMs / 2 : Math.min(lateMs, silenceMs / 2);
    const patienceMs = this.#due > 0 ? dueMs : this.#quietLimitMs;
    const quietMs = this.#probed ? 0 : this.#clock.nowMs() - this.#heardMs;
    this.#cancelWatch = this.#clock.after(Math.max(1, patienceMs - quietMs), () => {
      // What arrived during a stall of this process was not read yet: judge after the poll phase.
      this.#clock.defer(() => this.#judgeSilence());
    });
  }

  /** How long nothing may come before the other side is asked for a sign of life. */
  get #quietLimitMs(): number {
    const { silenceMs, streamQuietMs } = this.#limits;
    return this.#due > 0 || this.#probed ? silenceMs / 2 : streamQuietMs;
  }

  #judgeSilence(): void {
    this.#cancelWatch = undefined;
    if (this.#closedBecause !== undefined || this.requestsUnderWay === 0) return;
    const quietMs = this.#clock.nowMs() - this.#heardMs;
    if (this.#due > 0 && quietMs >= this.#limits.lateMs && !this.#isLate) {
      this.#isLate = true;
      for (const listener of this.#lateListeners) listener();
    }
    if (quietMs >= this.#quietLimitMs) this.#doubt();
    this.#watch();
  }

  #doubt(): void {
    if (this.#probed) {
      this.close(`${this.endpoint} was silent for ${this.#limits.silenceMs} ms while answers were due`);
      return;
    }
    this.#probed = true;
    this.#outgoing.push({ id: 0, timeoutMs: 1_000, body: { kind: "status" } });
    this.#deferFlush();
  }

  #end(reason: string): void {
    if (this.#closedBecause !== undefined) return;
    this.#closedBecause = reason;
    this.#cancelWatch?.();
    this.#cancelWatch = undefined;
    this.#lateListeners.clear();
    const unsent = new Set(this.#outgoing.map((request) => request.id));
    this.#outgoing = [];
    this.#outgoingBytes = 0;
    for (const [id, pending] of [...this.#pending]) {
      pending.finish({ kind: unsent.has(id) ? "unsent" : "unanswered", reason });
    }
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.lost(reason);
    const listeners = [...this.#closeListeners];
    this.#closeListeners.clear();
    for (const listener of listeners) listener();
  }
}

/** Told here, since a node that does not know the request closes the connection of whoever sends it. */
function unknownTo(endpoint: string): Failure {
  const message = `${endpoint} runs an older version, which does not know this request. Upgrade it first.`;
  return { code: "REFUSED", message, retryable: false, outcome: "none", leaderEndpoint: "" };
}
