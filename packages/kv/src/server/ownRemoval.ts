/**
 * Learns that this node was removed from its cluster, and says so once: by its own log where that tells it, else by
 * asking. Nobody speaks to a member that left, so one that was away meanwhile would look for a leader for ever.
 *
 *     its log has the committed removal ──────────────────────────────► told
 *     no leader at two looks in a row ─► asks the members that it knows ─► a committed membership lacks it ─► told
 *
 * Must never take for a removal what may still be overwritten, or what another cluster says.
 */
import type { MemberList } from "@quorate/client";
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

export class OwnRemoval {
  readonly #ports: RemovalPorts;
  readonly #stopObserving: () => void;
  /** Of the next look, or of the end. */
  #cancel: Cancel | undefined;
  readonly #over: AbortController = new AbortController();
  #wasLeaderless = false;

  constructor(ports: RemovalPorts) {
    this.#ports = ports;
    this.#stopObserving = ports.node.observe(({ kind }) => {
      if (kind === "removed") this.#lookAtLog();
    });
    this.#lookLater();
    this.#lookAtLog();
  }

  stop(): void {
    this.#over.abort();
    this.#cancel?.();
    this.#stopObserving();
  }

  #lookAtLog(): void {
    const { removedAt } = this.#ports.node.status();
    if (removedAt !== undefined) this.#tell(`entry ${removedAt} of its log says so`);
  }

  #lookLater(): void {
    const { clock, lookEveryMs } = this.#ports;
    this.#cancel = clock.after(lookEveryMs, () => {
      void this.#look().finally(() => {
        if (!this.#over.signal.aborted) this.#lookLater();
      });
    });
  }

  /** An election may just be under way at one look; at the second one it would take remarkably long. */
  async #look(): Promise<void> {
    const { node } = this.#ports;
    const { leader, standing, configuration } = node.status();
    if (standing !== "born" || configuration === undefined) return;
    const isLeaderless = leader === undefined;
    const mustAsk = isLeaderless && (this.#wasLeaderless || !isMember(configuration, node.member));
    this.#wasLeaderless = isLeaderless;
    if (mustAsk) await this.#ask();
  }

  async #ask(): Promise<void> {
    const { node, logger, ask } = this.#ports;
    const { clusterId, configuration } = node.status();
    const others = configuration === undefined ? [] : membersOf(configuration);
    const own = nodeIdOf(node.member);
    const endpoints = others.filter(({ id }) => nodeIdOf(id) !== own).map(({ address }) => address);
    const told = await ask(endpoints, this.#over.signal).catch((error: unknown) => {
      // Nobody need be there who could answer: it is asked again after later looks.
      logger.debug({ err: String(error) }, "Nobody could say whether this node is still a member.");
      return undefined;
    });
    if (told === undefined || told.list.clusterId !== clusterId || told.list.index > told.commitIndex) return;
    if (told.list.members.some(({ member }) => member === node.member)) return;
    this.#tell(`the membership of entry ${told.list.index} does not name it, the other members say`);
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
