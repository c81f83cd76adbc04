/**
 * Learns that this node was removed from its cluster, and says so once. Nobody speaks to a member that left, so one
 * that was away meanwhile would look for a leader for ever.
 *
 *     its log has the committed removal ─┐
 *     no leader at two looks in a row ───┴─► asks the members that it knows ─► a committed membership lacks it ─► told
 *
 * Its log alone does not tell: who was added, removed before anybody reached him, and then taken in again, comes by the
 * first two entries on his way to the third. Must never take for a removal what may still be overwritten, or what
 * another cluster says.
 */
import type { MemberList, NodeReport } from "@quorate/client";
import {
  type Cancel,
  type Clock,
  isMember,
  type Logger,
  membersOf,
  nodeIdOf,
  QuorateError,
  type RaftNode,
} from "@quorate/raft";
import { removalSentence } from "@quorate/raft/internal";

export interface RemovalPorts {
  readonly node: Pick<RaftNode<unknown>, "member" | "status" | "observe">;
  readonly clock: Pick<Clock, "after">;
  readonly logger: Pick<Logger, "debug" | "error">;
  /** Between two looks for a leader. */
  readonly lookEveryMs: number;
  /** Between the knowledge and `removed`: whoever asked for the removal over this node is still to be answered. */
  readonly graceMs: number;
  /** Asks the cluster of these addresses; ends in bounded time, and with the signal. */
  ask(endpoints: readonly string[], signal: AbortSignal): Promise<ToldMembership>;
  removed(error: QuorateError): void;
}

/** The linearizable list of members, and a log index that was known to be committed before that list was asked for. */
export interface ToldMembership {
  readonly list: MemberList;
  readonly commitIndex: number;
}

/** What members of the list's cluster say. One of their names at their address may be of another cluster by now. */
export function commitIndexIn({ clusterId, members }: MemberList, nodes: readonly NodeReport[]): number {
  const told = nodes.filter(
    (node) => node.clusterId === clusterId && members.some(({ id }) => id === node.id),
  );
  return Math.max(0, ...told.map(({ commitIndex }) => commitIndex ?? 0));
}

export class OwnRemoval {
  readonly #ports: RemovalPorts;
  readonly #stopObserving: () => void;
  /** Of the next look, or of the end. */
  #cancel: Cancel | undefined;
  readonly #over: AbortController = new AbortController();
  #wasLeaderless = false;
  #isLooking = false;

  constructor(ports: RemovalPorts) {
    this.#ports = ports;
    this.#stopObserving = ports.node.observe(({ kind }) => {
      if (kind === "removed") this.#lookNow();
    });
    if (ports.node.status().removedAt === undefined) this.#lookLater();
    else this.#lookNow();
  }

  stop(): void {
    this.#over.abort();
    this.#cancel?.();
    this.#stopObserving();
  }

  #lookLater(): void {
    const { clock, lookEveryMs } = this.#ports;
    this.#cancel = clock.after(lookEveryMs, () => this.#lookNow());
  }

  /** Where a look is under way, the next one comes after it. */
  #lookNow(): void {
    if (this.#isLooking) return;
    this.#cancel?.();
    this.#isLooking = true;
    void this.#look().finally(() => {
      this.#isLooking = false;
      if (!this.#over.signal.aborted) this.#lookLater();
    });
  }

  /** An election may just be under way at one look; at the second one it would take remarkably long. */
  async #look(): Promise<void> {
    const { node } = this.#ports;
    const { leader, standing, configuration, removedAt } = node.status();
    if (standing !== "born" || configuration === undefined) return;
    const isLeaderless = leader === undefined;
    const looksLeft = isLeaderless && (this.#wasLeaderless || !isMember(configuration, node.member));
    this.#wasLeaderless = isLeaderless;
    if (looksLeft || removedAt !== undefined) await this.#ask();
  }

  async #ask(): Promise<void> {
    const { node, logger, ask } = this.#ports;
    const { clusterId, configuration, commitIndex } = node.status();
    const others = configuration === undefined ? [] : membersOf(configuration);
    const own = nodeIdOf(node.member);
    const endpoints = others.filter(({ id }) => nodeIdOf(id) !== own).map(({ address }) => address);
    const told = await ask(endpoints, this.#over.signal).catch((error: unknown) => {
      // Nobody need be there who could answer: it is asked again after later looks.
      logger.debug({ err: String(error) }, "Nobody could say whether this node is still a member.");
      return undefined;
    });
    if (told === undefined || told.list.clusterId !== clusterId) return;
    if (told.list.index > Math.max(told.commitIndex, commitIndex)) return;
    if (told.list.members.some(({ member }) => member === node.member)) return;
    const { removedAt } = node.status();
    this.#tell(
      removedAt === undefined
        ? `the membership of entry ${told.list.index} does not name it, the other members say`
        : `entry ${removedAt} of its log says so, and so do the other members`,
    );
  }

  #tell(by: string): void {
    if (this.#over.signal.aborted) return;
    this.stop();
    const { node, clock, logger, graceMs, removed } = this.#ports;
    const { clusterId = "" } = node.status();
    const error = new QuorateError("REMOVED", removalSentence(node.member, clusterId, by));
    logger.error({ code: error.code }, `The node stops: ${error.message}`);
    this.#cancel = clock.after(graceMs, () => removed(error));
  }
}
