/**
 * Takes snapshots of the machine in the background: when the log has grown enough, one at a time, piece by piece, with
 * a turn of the node between any two pieces, and half of its time at most.
 *
 * The view is of one moment, and stays as it is while the machine goes on. A snapshot that cannot be written harms
 * nothing but the disk's space: it is tried again later.
 */
import {
  configurationAt,
  configurationOf,
  type Index,
  type RaftState,
  type SnapshotHeader,
  termAt,
} from "../core/index.ts";
import type { Cancel, Clock, LogStore, Snapshotting, StateView } from "../ports/index.ts";
import type { ResolvedRaftOptions } from "./options.ts";
import { WorkPace } from "./workPace.ts";

export interface TakerPorts {
  readonly clock: Clock;
  readonly log: LogStore;
  readonly machine: Snapshotting;
  readonly options: ResolvedRaftOptions;
  readonly state: RaftState;
  taken(header: SnapshotHeader, durationMs: number): void;
  failed(error: unknown): void;
}

const firstRetryMs = 5_000;
const longestRetryMs = 300_000;

export class SnapshotTaker {
  readonly #ports: TakerPorts;
  #takenIndex: number;
  /** Of entries that were applied since the newest snapshot. */
  #bytes = 0;
  #isWanted = false;
  #taking: Promise<void> | undefined;
  #isCancelled = false;
  #awaitDurable: (() => void) | undefined;
  #cancelRetry: Cancel | undefined;
  #retryMs = firstRetryMs;

  constructor(ports: TakerPorts) {
    this.#ports = ports;
    this.#takenIndex = ports.state.snapshots.newest?.boundary.index ?? 0;
  }

  applied(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The newest one is of no use to others. */
  want(): void {
    this.#isWanted = true;
  }

  /** After each turn. */
  progressed(appliedIndex: Index): void {
    if (this.#taking !== undefined) this.#awaitDurable?.();
    else if (this.#cancelRetry === undefined && this.#isDue(appliedIndex)) this.#begin(appliedIndex);
  }

  #isDue(appliedIndex: Index): boolean {
    const { options, state } = this.#ports;
    const entries = appliedIndex - this.#takenIndex;
    if (this.#isWanted && entries > 0) return true;
    if (entries < options.snapshotEntries && (entries === 0 || this.#bytes < options.snapshotBytes))
      return false;
    const lastBytes = state.snapshots.newest?.bytes ?? 0;
    return this.#bytes * 100 >= lastBytes * options.snapshotGrowthPercent * (1 + this.#stagger());
  }

  /**
   * From 0 to 1, another one of each voter. All apply the same entries, and would save a large state at the same
   * time: then commits wait for all of them, and on one machine they for each other.
   */
  #stagger(): number {
    const { state } = this.#ports;
    const { voters } = configurationOf(state.log);
    let before = 0;
    for (const { id } of voters) if (id < state.options.self) before += 1;
    return before / Math.max(1, voters.length);
  }

  #begin(index: Index): void {
    this.#isCancelled = false;
    const bytesBefore = this.#bytes;
    this.#bytes = 0;
    this.#taking = this.#take(index).then(
      (header) => {
        this.#taking = undefined;
        if (header === undefined) return;
        this.#retryMs = firstRetryMs;
        this.#isWanted = false;
        this.#takenIndex = header.boundary.index;
      },
      (error: unknown) => {
        this.#taking = undefined;
        this.#bytes += bytesBefore;
        this.#retryLater();
        this.#ports.failed(error);
      },
    );
  }

  async #take(index: Index): Promise<SnapshotHeader | undefined> {
    const { clock, log, machine, state } = this.#ports;
    const beganMs = clock.nowMs();
    const term = termAt(state.log, index);
    if (term === undefined) return undefined;
    const configuration = configurationAt(state.log, index);
    const view = machine.view();
    await this.#untilDurable(index);
    if (this.#isCancelled) return undefined;
    const writer = await log.snapshots.write({ index, term }, configuration);
    try {
      const isWhole = await this.#writeAll(view, writer);
      if (!isWhole) {
        await writer.abort();
        return undefined;
      }
      const header = await writer.finish();
      if (!this.#isCancelled) this.#ports.taken(header, clock.nowMs() - beganMs);
      return header;
    } catch (error) {
      await writer.abort();
      throw error;
    }
  }

  async #writeAll(view: StateView, writer: { write(chunk: Uint8Array): Promise<void> }): Promise<boolean> {
    const pace = new WorkPace(this.#ports.clock);
    for (const chunk of view.chunks()) {
      const written = writer.write(chunk); // adds it up, which is work as well
      pace.end();
      await written;
      await pace.rest();
      if (this.#isCancelled) return false;
      pace.begin();
    }
    return true;
  }

  /** A follower may apply what it has not written yet, and a snapshot must never be ahead of its log. */
  async #untilDurable(index: Index): Promise<void> {
    const { disk } = this.#ports.state;
    while (disk.durableIndex < index && !this.#isCancelled) {
      await new Promise<void>((resolve) => {
        this.#awaitDurable = resolve;
      });
    }
    this.#awaitDurable = undefined;
  }

  #retryLater(): void {
    this.#cancelRetry = this.#ports.clock.after(this.#retryMs, () => {
      this.#cancelRetry = undefined;
    });
    this.#retryMs = Math.min(2 * this.#retryMs, longestRetryMs);
  }

  /** A snapshot of a peer takes the place of the state: one of the state before is of no use. */
  installed(header: SnapshotHeader): void {
    this.#takenIndex = header.boundary.index;
    this.#bytes = 0;
    this.#isWanted = false;
  }

  /** Resolves when nothing is under way any more. */
  async cancel(): Promise<void> {
    this.#isCancelled = true;
    this.#awaitDurable?.();
    await this.#taking;
  }

  stop(): void {
    this.#isCancelled = true;
    this.#cancelRetry?.();
    this.#awaitDurable?.();
  }
}
