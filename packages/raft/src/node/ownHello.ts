/** What a node shows of itself when a link is made: as it is at that moment. */
import type { MemberId } from "../core/index.ts";
import type { LogStore, PeerHello } from "../ports/index.ts";

export interface OwnHello {
  readonly self: MemberId;
  readonly log: LogStore;
  /** Drawn at the start of the process. */
  readonly start: string;
  readonly address: string;
  readonly priority: number;
  readonly machine: number;
}

export function ownHello({ self, log, start, address, priority, machine }: OwnHello): PeerHello {
  const { standing, boot, sequence } = log;
  const clusterId = standing.kind === "born" ? standing.birth.clusterId : undefined;
  return { member: self, clusterId, start, boot, sequence, address, priority, machine };
}
