/**
 * Reads the chunks that are sent to peers, and keeps each snapshot that is being sent until it need not be any more.
 */
import type { ChunkLoad, Event, MemberId, SnapshotProgress } from "../core/index.ts";
import type { SnapshotStore } from "../ports/index.ts";

export interface SourcePorts {
  readonly snapshots: SnapshotStore;
  push(event: Event): void;
  failed(error: unknown): void;
}

export class SnapshotSource {
  readonly #ports: SourcePorts;
  readonly #retained = new Map<MemberId, () => void>();

  constructor(ports: SourcePorts) {
    this.#ports = ports;
  }

  progressed({ kind, peer, header }: SnapshotProgress): void {
    this.#retained.get(peer)?.();
    if (kind === "begun") this.#retained.set(peer, this.#ports.snapshots.retain(header));
    else this.#retained.delete(peer);
  }

  /** What cannot be read is not there for the peer: another snapshot has to do. */
  load(load: ChunkLoad): void {
    const { header, offset, bytes } = load;
    this.#ports.snapshots.read(header, offset, bytes).then(
      (data) => this.#ports.push({ kind: "chunkLoaded", load, data }),
      (error: unknown) => {
        this.#ports.failed(error);
        this.#ports.push({ kind: "chunkLoaded", load, data: undefined });
      },
    );
  }

  stop(): void {
    for (const release of this.#retained.values()) release();
    this.#retained.clear();
  }
}
