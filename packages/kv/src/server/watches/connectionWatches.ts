/**
 * The watches of one client's connection. What they are told leaves with the connection's answers; when those wait for
 * the network, the watches wait in the history.
 */
import type { ResponseBody, WatchRequest } from "@quorate/client/protocol";
import { type Cancel, type Clock, QuorateError } from "@quorate/raft";
import type { ServedWatch, WatchSink } from "./servedWatch.ts";
import type { WatchService } from "./watchService.ts";

export interface ConnectionWatchesPorts {
  readonly clock: Clock;
  readonly service: WatchService;
  /** Bytes that wait to be sent. */
  readonly waitingBytes: () => number;
  readonly send: (id: number, body: ResponseBody) => void;
}

/** How often it is looked whether a connection without room has room again. */
const roomPollMs = 10;

export class ConnectionWatches implements WatchSink {
  readonly #ports: ConnectionWatchesPorts;
  readonly #watches: Map<number, ServedWatch> = new Map();
  #cancelPoll: Cancel | undefined;
  #progress = 0;

  constructor(ports: ConnectionWatchesPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#watches.size;
  }

  has(id: number): boolean {
    return this.#watches.has(id);
  }

  get hasRoom(): boolean {
    return this.#ports.waitingBytes() < this.#ports.service.limits.watchBusyBytes;
  }

  begin(id: number, request: WatchRequest): void {
    const { service, send } = this.#ports;
    const { maxWatchesPerConnection, maxWatches } = service.limits;
    if (this.#watches.size >= maxWatchesPerConnection || service.size >= maxWatches) {
      const sentence =
        this.#watches.size >= maxWatchesPerConnection
          ? `${maxWatchesPerConnection} watches of this connection are open, its limit. End some.`
          : `${maxWatches} watches are open on this node, its limit. Try again, or ask another node.`;
      send(id, service.failed(new QuorateError("OVERLOADED", sentence, { retryable: true })));
      return;
    }
    const watch = service.begin(id, request, this);
    if (watch.standing !== "ended") this.#watches.set(id, watch);
  }

  end(id: number): void {
    const watch = this.#watches.get(id);
    this.#watches.delete(id);
    if (watch !== undefined) this.#ports.service.remove(watch);
  }

  /** Gives back why the client is broken, if it is. */
  credit(id: number, consumedBytes: number): string | undefined {
    const watch = this.#watches.get(id);
    if (watch === undefined) return undefined; // it ended meanwhile
    if (!watch.consumed(consumedBytes)) {
      return `it says that it has consumed ${consumedBytes} bytes of watch ${id}, which were not sent so`;
    }
    this.#ports.service.resume(watch);
    return undefined;
  }

  /** That all watches that have begun were told everything up to `revision`, if so; each revision is said once. */
  sayProgress(revision: number): void {
    if (revision <= this.#progress) return;
    for (const { standing } of this.#watches.values()) if (standing === "behind") return;
    this.#progress = revision;
    if (this.#watches.size > 0) this.#ports.send(0, { kind: "watchProgress", revision });
  }

  endAll(): void {
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
    for (const id of [...this.#watches.keys()]) this.end(id);
  }

  send(watch: number, body: ResponseBody): void {
    this.#ports.send(watch, body);
  }

  ended({ id }: ServedWatch): void {
    this.#watches.delete(id);
  }

  waits(): void {
    this.#cancelPoll ??= this.#ports.clock.after(roomPollMs, () => {
      this.#cancelPoll = undefined;
      if (!this.hasRoom) {
        this.waits();
        return;
      }
      for (const watch of [...this.#watches.values()]) this.#ports.service.resume(watch);
    });
  }
}
