/**
 * Whether this node was removed, as far as its own log goes: a committed configuration named it, and a later one, which
 * is committed too, does not. A log that only lacks the node may be one on whose way the entry that adds it still is;
 * and what is not committed may be overwritten. A node that was away when it was removed learns nothing of it here, and
 * one that was taken in again since may still be on its way to the entry that does so: the others must be asked.
 */
import { isMember } from "../core/quorum.ts";
import type { RaftState } from "../core/state.ts";
import type { ConfigurationAt, Index, MemberId } from "../core/types.ts";
import type { LogStore } from "../ports/index.ts";

export class OwnMembership {
  readonly #self: MemberId;
  readonly #log: Pick<LogStore, "standing">;
  readonly #removed: (index: Index) => void;
  #wasNamed = false;
  #removedAt: Index | undefined;

  /** `removed` is called once for each removal. */
  constructor(self: MemberId, log: Pick<LogStore, "standing">, removed: (index: Index) => void) {
    this.#self = self;
    this.#log = log;
    this.#removed = removed;
  }

  /** The committed entry whose configuration names it no longer. */
  get removedAt(): Index | undefined {
    return this.#removedAt;
  }

  /** After each change of the configurations in the log, and of which of them are committed. */
  follow({ log, commitIndex }: Pick<RaftState, "log" | "commitIndex">): void {
    const committed = log.configurations.filter(({ index }) => index <= commitIndex);
    const { standing } = this.#log;
    this.#wasNamed ||= standing.kind === "born" && isMember(standing.birth.configuration, this.#self);
    this.#wasNamed ||= committed.some((one) => this.#isNamedBy(one));
    const newest = committed.at(-1);
    if (newest === undefined || !this.#wasNamed) return;
    const isNews = this.#removedAt === undefined;
    this.#removedAt = this.#isNamedBy(newest) ? undefined : newest.index;
    if (isNews && this.#removedAt !== undefined) this.#removed(this.#removedAt);
  }

  #isNamedBy({ configuration }: ConfigurationAt): boolean {
    return isMember(configuration, this.#self);
  }
}

/** What has happened, and the way back; `of` says what tells it. */
export function removalSentence(member: MemberId, clusterId: string, of: string): string {
  return (
    `${member} was removed from cluster ${clusterId}: ${of}. With this data directory it cannot come back. To take it ` +
    "in again, empty the directory and start it with --join (in join(): via) and the address of a member."
  );
}
