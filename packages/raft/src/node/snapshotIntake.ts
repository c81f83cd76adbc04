/**
 * Puts the chunks of a snapshot that a peer sends into its file, and says how much is there. Chunks go straight there;
 * what does not continue the file is not taken, and the answer tells the peer where to go on.
 *
 * A chunk that cannot be stored is not answered: the peer asks again, less often each time.
 */
import type { Event, ReceivedChunk, SnapshotHeader } from "../core/index.ts";
import { QuorateError } from "../errors.ts";
import type { SnapshotReceiver, SnapshotStore } from "../ports/index.ts";

export interface IntakePorts {
  readonly snapshots: SnapshotStore;
  push(event: Event): void;
  failed(error: unknown): void;
}

/** One is under way, and what the network repeats comes on top. */
const maxWaiting = 4;

export class SnapshotIntake {
  readonly #ports: IntakePorts;
  #receiver: SnapshotReceiver | undefined;
  /** Whole and verified, and not installed yet. */
  #whole: SnapshotHeader | undefined;
  #waiting: ReceivedChunk[] = [];
  #isBusy = false;
  #isStopped = false;

  constructor(ports: IntakePorts) {
    this.#ports = ports;
  }

  take(chunk: ReceivedChunk): void {
    if (this.#waiting.length >= maxWaiting) return;
    this.#waiting.push(chunk);
    if (!this.#isBusy) void this.#work();
  }

  /** It is in use, or of no use any more. */
  forget(): void {
    this.#whole = undefined;
    this.#receiver = undefined;
  }

  stop(): void {
    this.#isStopped = true;
    this.#waiting = [];
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let chunk = this.#waiting.shift(); chunk !== undefined; chunk = this.#waiting.shift()) {
      try {
        const offset = await this.#store(chunk);
        if (this.#isStopped) return;
        this.#ports.push({ kind: "chunkStored", chunk, offset });
        const { header } = chunk.message;
        if (this.#whole === header) this.#ports.push({ kind: "snapshotReceived", header });
      } catch (error) {
        this.#receiver = undefined;
        if (this.#isStopped) return;
        this.#ports.failed(error);
      }
    }
    this.#isBusy = false;
  }

  /** Resolves with how much is there then. */
  async #store({ message }: ReceivedChunk): Promise<number> {
    const { header, offset, data } = message;
    if (this.#whole !== undefined && isSame(this.#whole, header)) {
      this.#whole = header;
      return header.bytes;
    }
    this.#whole = undefined;
    if (this.#receiver === undefined || !isSame(this.#receiver.header, header)) {
      this.#receiver = await this.#ports.snapshots.receive(header);
    }
    const receiver = this.#receiver;
    const fits = offset === receiver.offset && offset + data.length <= header.bytes;
    if (fits && data.length > 0) await receiver.write(offset, data);
    if (receiver.offset < header.bytes) return receiver.offset;
    try {
      await receiver.finish();
    } catch (error) {
      if (!(error instanceof QuorateError) || error.code !== "SNAPSHOT_DAMAGED") throw error;
      this.#receiver = undefined;
      this.#ports.failed(error);
      return 0;
    }
    this.#receiver = undefined;
    this.#whole = header;
    return header.bytes;
  }
}

function isSame(one: SnapshotHeader, other: SnapshotHeader): boolean {
  return (
    one.boundary.index === other.boundary.index &&
    one.boundary.term === other.boundary.term &&
    one.chain === other.chain &&
    one.bytes === other.bytes &&
    one.checksum === other.checksum
  );
}
