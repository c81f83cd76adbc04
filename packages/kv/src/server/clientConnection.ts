/**
 * One client's connection: its requests under way and the answers that wait to be sent.
 *
 * The answers of a turn leave in one frame. A client that sends what is no request, that asks for more than it may, or
 * that does not read its answers, loses its connection with a sentence, and nobody else notices.
 */
import { readRequests, responseBytes, responseFrames } from "@quorate/client/internal";
import type { Request, Response, ResponseBody } from "@quorate/client/protocol";
import { type Cancel, type Channel, type Clock, QuorateError } from "@quorate/raft";
import type { AnsweredRequest, Asker, RequestHandler } from "./requestHandler.ts";
import type { ServerLimits } from "./serverLimits.ts";
import { ConnectionWatches } from "./watches/connectionWatches.ts";
import type { WatchService } from "./watches/watchService.ts";

export interface ConnectionPorts {
  readonly clock: Clock;
  readonly handler: RequestHandler;
  /** The newest version of the state machine that the client knows. */
  readonly machine: number;
  readonly watches: WatchService;
  readonly limits: ServerLimits;
  /** Requests under way on all connections. */
  readonly total: { count: number };
  /** Something is under way whose deadline has to be watched. */
  readonly expect: () => void;
  readonly closed: (connection: ClientConnection, reason: string) => void;
}

/**
 * One turn of the node settles many promises, and each answer comes at the end of a chain of a few: after so many links
 * all of them are there, and go in one frame, ahead of whatever the node does next.
 */
const settlingHops = 8;
/** How often it is looked whether a client that was slow has caught up. */
const drainPollMs = 10;

export class ClientConnection {
  readonly #ports: ConnectionPorts;
  readonly #channel: Channel;
  /** By request id: when the client stops waiting for it. */
  readonly #underWay: Map<number, number> = new Map();
  /** What waits for a change, by request id; each ends by itself, in its time. */
  readonly #waits: Map<number, Cancel> = new Map();
  readonly #watches: ConnectionWatches;
  readonly #asker: Asker;
  #answers: Response[] = [];
  #answerBytes = 0;
  #isFlushDue = false;
  #isClosed = false;
  #busySinceMs: number | undefined;
  #cancelDrain: Cancel | undefined;

  constructor(ports: ConnectionPorts, channel: Channel) {
    this.#ports = ports;
    this.#channel = channel;
    this.#watches = new ConnectionWatches({
      clock: ports.clock,
      service: ports.watches,
      waitingBytes: () => this.#waitingBytes,
      send: (id, body) => this.#send(id, body),
    });
    this.#asker = { machine: ports.machine, refusal: () => this.#unread };
    ports.watches.join(this.#watches);
    channel.open({
      frame: (bytes) => this.#receive(bytes),
      closed: (_cause, reason) => this.#end(reason),
    });
  }

  get requestsUnderWay(): number {
    return this.#underWay.size;
  }

  close(reason: string): void {
    if (this.#isClosed) return;
    this.#end(reason);
    this.#channel.close(reason.slice(0, 120));
  }

  /** Answers what the client does not wait for any longer. */
  giveUpOverdue(nowMs: number): void {
    for (const [id, deadlineMs] of [...this.#underWay]) {
      if (deadlineMs > nowMs) continue;
      const sentence = "It has no answer within the time that the request gave it.";
      const error = new QuorateError("TIMED_OUT", sentence, { retryable: true, outcome: "unknown" });
      this.#answer(id, this.#ports.handler.failed(error));
    }
  }

  #receive(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    const requests = readRequests(bytes);
    if (requests === undefined) {
      this.close(
        "a frame is no list of requests of this protocol; the client is broken or of another version",
      );
      return;
    }
    for (const request of requests) {
      if (this.#isClosed) return;
      this.#take(request);
    }
  }

  #take(request: Request): void {
    const { id, body } = request;
    if (this.#underWay.has(id) || this.#waits.has(id) || this.#watches.has(id)) {
      this.close(`request ${id} is under way already; each needs an id of its own`);
      return;
    }
    switch (body.kind) {
      case "watch":
        this.#watches.begin(id, body);
        return;
      case "watchCredit": {
        const problem = this.#watches.credit(body.watch, body.consumedBytes);
        if (problem !== undefined) this.close(problem);
        return;
      }
      case "unwatch":
        this.#watches.end(body.watch);
        return;
      default:
        this.#ask(request, body);
    }
  }

  #ask({ id, timeoutMs }: Request, body: AnsweredRequest): void {
    const { clock, handler, total, expect } = this.#ports;
    const deadlineMs = clock.nowMs() + timeoutMs;
    const refusal = this.#refusal;
    this.#underWay.set(id, deadlineMs);
    total.count += 1;
    if (refusal !== undefined) {
      this.#answer(id, handler.failed(new QuorateError("OVERLOADED", refusal, { retryable: true })));
      return;
    }
    const cancel = handler.handle(body, this.#asker, timeoutMs, (answer) => this.#answer(id, answer));
    if (cancel === undefined) {
      expect();
      return;
    }
    // Whoever waits for something to happen is not kept waiting, and keeps nobody from closing.
    this.#underWay.delete(id);
    total.count -= 1;
    this.#waits.set(id, cancel);
  }

  get #refusal(): string | undefined {
    const { limits, total } = this.#ports;
    if (this.#underWay.size >= limits.maxRequestsPerConnection) {
      return `${limits.maxRequestsPerConnection} requests of this connection are under way, its limit. Send fewer.`;
    }
    if (this.#waits.size >= limits.maxWaitsPerConnection) {
      return `${limits.maxWaitsPerConnection} requests of this connection wait for changes, its limit. Send fewer.`;
    }
    if (total.count >= limits.maxRequests) {
      return `${limits.maxRequests} requests are under way, this node's limit. Try again.`;
    }
    return undefined;
  }

  get #unread(): QuorateError | undefined {
    const waitingBytes = this.#waitingBytes;
    if (waitingBytes <= this.#ports.limits.busyBytes) return undefined;
    const sentence = `${waitingBytes} bytes of answers wait to be read by this client. Read them first.`;
    return new QuorateError("OVERLOADED", sentence, { retryable: true });
  }

  /** Does nothing for a request that was answered before, or whose client has gone. */
  #answer(id: number, body: ResponseBody): void {
    if (this.#underWay.delete(id)) this.#ports.total.count -= 1;
    else if (!this.#waits.delete(id)) return;
    this.#send(id, body);
  }

  #send(id: number, body: ResponseBody): void {
    if (this.#isClosed) return;
    this.#answers.push({ id, body });
    this.#answerBytes += responseBytes(body);
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    this.#flushAfter(settlingHops);
  }

  #flushAfter(hops: number): void {
    queueMicrotask(() => (hops === 0 ? this.#flush() : this.#flushAfter(hops - 1)));
  }

  get #waitingBytes(): number {
    return this.#channel.bufferedBytes + this.#answerBytes;
  }

  #flush(): void {
    this.#isFlushDue = false;
    if (this.#isClosed) return;
    const { limits, clock } = this.#ports;
    if (this.#waitingBytes > limits.maxBufferedBytes) {
      this.close(`${this.#waitingBytes} bytes of answers were not read by the client`);
      return;
    }
    if (this.#channel.bufferedBytes > limits.busyBytes) {
      this.#waitForDrain();
      return;
    }
    this.#busySinceMs = undefined;
    const answers = this.#answers;
    this.#answers = [];
    this.#answerBytes = 0;
    for (const frame of responseFrames(answers)) this.#channel.send(frame);
    if (this.#channel.bufferedBytes > limits.busyBytes) this.#busySinceMs = clock.nowMs();
  }

  #waitForDrain(): void {
    const { limits, clock } = this.#ports;
    this.#busySinceMs ??= clock.nowMs();
    if (clock.nowMs() - this.#busySinceMs > limits.maxStalledMs) {
      this.close(`the client has not read its answers for ${limits.maxStalledMs} ms`);
      return;
    }
    this.#cancelDrain?.();
    this.#cancelDrain = clock.after(drainPollMs, () => {
      this.#cancelDrain = undefined;
      if (!this.#isFlushDue) this.#flush();
    });
  }

  #end(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelDrain?.();
    this.#ports.total.count -= this.#underWay.size;
    this.#underWay.clear();
    for (const cancel of this.#waits.values()) cancel();
    this.#waits.clear();
    this.#ports.watches.leave(this.#watches);
    this.#answers = [];
    this.#ports.closed(this, reason);
  }
}
