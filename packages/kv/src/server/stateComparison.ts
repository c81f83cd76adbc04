/**
 * Members hold their stores against each other while they run, by way of the log: at each 4,096th entry the leader
 * proposes the digest that it had there, and whoever applies that compares its own. No member waits for it, nothing is
 * walked through, and an idle cluster writes nothing.
 *
 * Of keys and values all is compared; of sessions and leases how many there are. A difference means that one of the two
 * is damaged, or applied an entry otherwise; which of them cannot be told here, so nobody is stopped: it is said.
 */
import {
  type CommandResult,
  decodeProposal,
  encodeProposal,
  peekCommandKind,
} from "@quorate/client/protocol";
import { type Entry, type Logger, nodeIdOf, QuorateError, type RaftNode } from "@quorate/raft";
import { comparableDigest, type StoreState } from "../machine/index.ts";

export interface ComparisonPorts {
  readonly node: Pick<RaftNode<CommandResult>, "member" | "propose" | "status">;
  readonly logger: Logger;
  readonly defer: (fn: () => void) => void;
}

export const comparedEvery = 4_096;
/** A proposal is applied long before so many more have come. */
const maxKept = 8;

export class StateComparison {
  readonly #ports: ComparisonPorts;
  /** By index: what this store was then. */
  readonly #digests: Map<number, readonly [number, number]> = new Map();
  #difference: string | undefined;

  constructor(ports: ComparisonPorts) {
    this.#ports = ports;
  }

  /** A sentence once a difference was seen: it stays for as long as the process runs. */
  get complaint(): string | undefined {
    return this.#difference;
  }

  /** An entry was applied, which left the store like this. */
  applied({ index, kind, data }: Entry, store: StoreState): void {
    if (index % comparedEvery === 0) this.#note(index, comparableDigest(store));
    if (kind === "command" && peekCommandKind(data) === "compareStates") this.#compare(data);
  }

  #note(index: number, digest: readonly [number, number]): void {
    this.#digests.set(index, digest);
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > maxKept && oldest !== undefined) this.#digests.delete(oldest);
    this.#ports.defer(() => this.#propose(index, digest));
  }

  /** Lost, it is proposed again with the next one. */
  #propose(index: number, digest: readonly [number, number]): void {
    const { node, logger } = this.#ports;
    if (node.status().role !== "leader") return;
    const command = { kind: "compareStates", index, digest, node: nodeIdOf(node.member) } as const;
    node.propose(encodeProposal({ origin: { kind: "anonymous" }, command })).catch((error: unknown) => {
      if (!(error instanceof QuorateError)) throw error;
      logger.debug({ index, code: error.code }, "The states at this entry could not be compared.");
    });
  }

  #compare(data: Uint8Array): void {
    const decoded = decodeProposal(data);
    if (decoded.kind !== "proposal" || decoded.proposal.command.kind !== "compareStates") return;
    const { index, digest, node } = decoded.proposal.command;
    const own = this.#digests.get(index);
    if (own === undefined || (own[0] === digest[0] && own[1] === digest[1])) return;
    this.#difference =
      `At entry ${index} the store of this node was another than that of ${node}, which led: one of the two is ` +
      `damaged. If the other nodes say nothing, it is this one: remove it and let it join anew with an empty ` +
      `directory. If they say the same, it is ${node}.`;
    this.#ports.logger.error({ index, node, own, digest }, this.#difference);
  }
}
