/**
 * Backups that clients take: a view of the store for each, of which they ask one part after the other.
 *
 * A view holds on to what it shows while the store goes on, so there are few at a time, and one that nobody asks for
 * any more is dropped; one that was given whole makes room for another.
 */
import { maxSnapshotPartBytes, type ResponseBody } from "@quorate/client/protocol";
import { type Cancel, type Clock, QuorateError, type RaftNode } from "@quorate/raft";
import { revision } from "../machine/index.ts";
import type { MachineHost } from "./machineHost.ts";
import { membershipReport } from "./memberRequests.ts";

export const maxExports = 4;
/** For which nobody asks for the next part. */
export const exportIdleMs = 60_000;

export interface ExportPorts {
  readonly node: Pick<RaftNode<unknown>, "status" | "member">;
  readonly host: MachineHost;
  readonly clock: Clock;
}

interface Export {
  readonly parts: Iterator<Uint8Array>;
  /** The number of `part`; -1 before the first. */
  number: number;
  /** Asked for again, it is given again. */
  part: Uint8Array;
  /** It has given its end, which may be asked for again. */
  isOver: boolean;
  cancelIdle: Cancel;
}

export class SnapshotExports {
  readonly #ports: ExportPorts;
  readonly #underWay: Map<string, Export> = new Map();
  #taken = 0;

  constructor(ports: ExportPorts) {
    this.#ports = ports;
  }

  /** As the store is now: the caller has confirmed that it is up to date. */
  take(): ResponseBody {
    if (this.#underWay.size >= maxExports) this.#dropOver();
    if (this.#underWay.size >= maxExports) {
      const sentence = `${maxExports} snapshots are being taken from this node, its limit. Try again later.`;
      throw new QuorateError("OVERLOADED", sentence, { retryable: true });
    }
    const { node, host } = this.#ports;
    const status = node.status();
    this.#taken += 1;
    const name = `${node.member}/${status.appliedIndex}/${this.#taken}`;
    const parts = piecesOf(host.machine.view().chunks());
    const none = new Uint8Array(0);
    this.#underWay.set(name, { parts, number: -1, part: none, isOver: false, cancelIdle: this.#idle(name) });
    return {
      kind: "snapshotTaken",
      snapshot: name,
      index: status.appliedIndex,
      term: status.term,
      revision: revision(host.store),
      membership: membershipReport(status),
    };
  }

  part(name: string, number: number): ResponseBody {
    const found = this.#underWay.get(name);
    if (found === undefined || number < found.number || number > found.number + 1) {
      const sentence =
        "This node has no such part of a snapshot: it was restarted, or asked too late. Take another.";
      throw new QuorateError("INVALID_ARGUMENT", sentence);
    }
    found.cancelIdle();
    found.cancelIdle = this.#idle(name);
    if (number > found.number) {
      const next = found.parts.next();
      found.number = number;
      found.part = next.done === true ? new Uint8Array(0) : next.value;
      found.isOver = next.done === true;
    }
    return { kind: "snapshotPart", bytes: found.part };
  }

  /** Whoever asks for more is told that there is none. */
  stop(): void {
    for (const name of [...this.#underWay.keys()]) this.#drop(name);
  }

  #dropOver(): void {
    for (const [name, { isOver }] of [...this.#underWay]) if (isOver) this.#drop(name);
  }

  #drop(name: string): void {
    this.#underWay.get(name)?.cancelIdle();
    this.#underWay.delete(name);
  }

  #idle(name: string): Cancel {
    return this.#ports.clock.after(exportIdleMs, () => this.#underWay.delete(name));
  }
}

/** None is empty: that is how the end is told. */
function* piecesOf(chunks: Iterable<Uint8Array>): Generator<Uint8Array, void> {
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += maxSnapshotPartBytes) {
      yield chunk.subarray(from, from + maxSnapshotPartBytes);
    }
  }
}
