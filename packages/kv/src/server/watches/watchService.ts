/**
 * Watches as a node offers them: where each begins, what they are told from time to time, and when the node ends them
 * because it can keep no promise: without a leader it hears of nothing new, and silence would look like peace.
 */
import type { ResponseBody, WatchRequest } from "@quorate/client/protocol";
import type { Cancel, Clock, QuorateError, RaftNode } from "@quorate/raft";
import { Leaderless, leaderLookMs, leaderlessError } from "../leaderless.ts";
import type { ReadBatch } from "../readBatch.ts";
import type { ServerLimits } from "../serverLimits.ts";
import type { ConnectionWatches } from "./connectionWatches.ts";
import { ServedWatch, type WatchSink } from "./servedWatch.ts";
import { WatchHub, type WatchHubPorts } from "./watchHub.ts";

export interface WatchServicePorts extends WatchHubPorts {
  readonly node: Pick<RaftNode<unknown>, "status">;
  readonly clock: Clock;
  readonly reads: ReadBatch;
  readonly limits: ServerLimits;
  readonly failed: (error: QuorateError) => ResponseBody;
}

export class WatchService {
  readonly hub: WatchHub;
  readonly #ports: WatchServicePorts;
  readonly #connections: Set<ConnectionWatches> = new Set();
  readonly #starting: Set<ServedWatch> = new Set();
  readonly #leaderless: Leaderless;
  #cancelRound: Cancel | undefined;
  #isStopped = false;

  constructor(ports: WatchServicePorts) {
    this.#ports = ports;
    this.hub = new WatchHub(ports);
    this.#leaderless = new Leaderless(() => ports.node.status().leader !== undefined);
  }

  get limits(): ServerLimits {
    return this.#ports.limits;
  }

  get size(): number {
    return this.hub.size + this.#starting.size;
  }

  failed(error: QuorateError): ResponseBody {
    return this.#ports.failed(error);
  }

  join(connection: ConnectionWatches): void {
    this.#connections.add(connection);
  }

  leave(connection: ConnectionWatches): void {
    connection.endAll();
    this.#connections.delete(connection);
  }

  /** One that begins at no revision begins with a linearizable read: after all that was acknowledged before. */
  begin(id: number, request: WatchRequest, sink: WatchSink): ServedWatch {
    const watch = new ServedWatch(id, request, sink);
    this.#armRound();
    if (request.from > 0) {
      this.hub.begin(watch);
      return watch;
    }
    this.#starting.add(watch);
    this.#ports.reads.add(
      () => {
        if (!this.#starting.delete(watch)) return;
        watch.next = this.#ports.store().revision + 1;
        this.hub.begin(watch);
      },
      (error) => {
        if (this.#starting.delete(watch)) watch.end(this.#ports.failed(error));
      },
    );
    return watch;
  }

  resume(watch: ServedWatch): void {
    this.hub.resume(watch);
  }

  remove(watch: ServedWatch): void {
    this.#starting.delete(watch);
    this.hub.remove(watch);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelRound?.();
    this.#starting.clear();
    this.hub.stop();
  }

  /** Watches are told how far they have been told, and the leader is looked for. */
  #armRound(): void {
    if (this.#isStopped) return;
    this.#cancelRound ??= this.#ports.clock.after(leaderLookMs, () => {
      this.#cancelRound = undefined;
      this.#round();
      if (this.size > 0) this.#armRound();
    });
  }

  #round(): void {
    if (this.#leaderless.isForLong()) {
      this.#endAll();
      return;
    }
    this.hub.endSlow();
    const { revision } = this.#ports.store();
    for (const connection of this.#connections) connection.sayProgress(revision);
  }

  #endAll(): void {
    const failed = this.#ports.failed(leaderlessError());
    for (const watch of this.#starting) watch.end(failed);
    this.#starting.clear();
    this.hub.endAll(failed);
  }
}
