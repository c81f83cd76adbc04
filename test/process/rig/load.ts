/**
 * A steady load of puts by clients that know nothing of what is done to the nodes, and a record of what each was told.
 */
import type { Cluster } from "@quorate/client";
import { QuorateError } from "@quorate/raft";
import type { WriteOutcome, WriteRecord } from "./history.ts";
import { until } from "./waiting.ts";

export interface LoadOptions {
  readonly clients: readonly Cluster[];
  /** Begins every key. */
  readonly prefix: string;
  /** Over all clients. */
  readonly perSecond: number;
  /** Default 10 s. */
  readonly requestTimeoutMs?: number;
  /** Writes that one client has under way at most; what would be more is left out. Default 256. */
  readonly maxUnderWay?: number;
}

export class Load {
  readonly records: WriteRecord[] = [];
  readonly #options: Required<LoadOptions>;
  readonly #underWay = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  readonly #startMs = performance.now();
  #sent = 0;
  #ticks = 0;

  constructor(options: LoadOptions) {
    this.#options = { requestTimeoutMs: 10_000, maxUnderWay: 256, ...options };
    this.#timer = setInterval(() => this.#tick(), 1);
  }

  get acknowledged(): number {
    return this.records.filter((record) => record.outcome.kind === "acknowledged").length;
  }

  /** Until `count` more writes were acknowledged than now. */
  async progress(count: number, withinMs?: number): Promise<void> {
    const goal = this.acknowledged + count;
    await until(`${count} more writes are acknowledged`, () => this.acknowledged >= goal, {
      ...(withinMs === undefined ? {} : { withinMs }),
    });
  }

  /** Sends nothing more and waits until every write under way has ended. */
  async stop(): Promise<readonly WriteRecord[]> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
    return this.records;
  }

  #tick(): void {
    const due = ((performance.now() - this.#startMs) / 1_000) * this.#options.perSecond;
    for (; this.#ticks < due; this.#ticks += 1) {
      if (this.#underWay.size >= this.#options.maxUnderWay * this.#options.clients.length) continue;
      const write = this.#write(this.#sent);
      this.#sent += 1;
      this.#underWay.add(write);
      void write.finally(() => this.#underWay.delete(write));
    }
  }

  async #write(serial: number): Promise<void> {
    const { clients, prefix, requestTimeoutMs } = this.#options;
    const client = clients[serial % clients.length] as Cluster;
    const key = `${prefix}${String(serial).padStart(7, "0")}`;
    const value = `value ${serial}`;
    const invokedMs = performance.now();
    const outcome = await outcomeOf(client.kv.put(key, value, { timeoutMs: requestTimeoutMs }));
    this.records.push({ key, value, invokedMs, completedMs: performance.now(), outcome });
  }
}

export async function outcomeOf(put: Promise<{ readonly revision: number }>): Promise<WriteOutcome> {
  try {
    return { kind: "acknowledged", revision: (await put).revision };
  } catch (error) {
    if (!(error instanceof QuorateError)) throw error;
    return { kind: "failed", outcome: error.outcome, code: error.code };
  }
}
