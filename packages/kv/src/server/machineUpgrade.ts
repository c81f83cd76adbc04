/**
 * Raises the machine's version of a cluster that is upgraded one node at a time, from the leader alone: as soon as
 * every member has shown in its hello that it knows a later one.
 *
 *     a member greets, comes or goes ─► all know a later one? ─► from now on nobody who knows less is spoken with
 *                                                             ─► entry ─► applied: commands of that version may come
 *
 * A member that was not heard of yet may be anything: it is waited for. The entry names its office, so that one that a
 * deposed leader has left behind counts for nothing.
 */
import { type CommandResult, encodeProposal } from "@quorate/client/protocol";
import {
  type Cancel,
  type Clock,
  type Logger,
  membersOf,
  type NodeEvent,
  nodeIdOf,
  QuorateError,
  type RaftNode,
} from "@quorate/raft";
import type { MachineHost } from "./machineHost.ts";

export interface UpgradePorts {
  readonly node: Pick<RaftNode<CommandResult>, "member" | "propose" | "status" | "observe">;
  readonly host: Pick<MachineHost, "store" | "machine" | "demand">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** After which a proposal that failed is made again. */
const retryMs = 200;

interface Shown {
  readonly name: string;
  readonly version: number | undefined;
}

export class MachineUpgrade {
  readonly #ports: UpgradePorts;
  readonly #stopObserving: () => void;
  /** The Raft term of the office; undefined where this node does not lead. */
  #office: number | undefined;
  #isUnderWay = false;
  #cancelRetry: Cancel | undefined;

  constructor(ports: UpgradePorts) {
    this.#ports = ports;
    this.#stopObserving = ports.node.observe((event) => this.#observed(event));
  }

  officeBegun(office: number): void {
    this.#office = office;
    this.#look();
  }

  officeLost(): void {
    this.#office = undefined;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    // What it has left in the log is demanded when it is applied.
    this.#ports.host.demand(1);
  }

  stop(): void {
    this.#stopObserving();
    this.officeLost();
  }

  /** For people, on the leader; undefined where no member is of an older release. */
  get notice(): string | undefined {
    const { store, machine } = this.#ports.host;
    const { known } = machine.versions;
    if (this.#office === undefined || store.version >= known) return undefined;
    const older = this.#shown().filter(({ version }) => version !== undefined && version < known);
    if (older.length === 0) return undefined;
    const names = older.map(({ name, version }) => `${name} (${version})`).join(", ");
    return (
      `Members of an older release, by the version of the state machine that they know: ${names}. Commands of version ` +
      `${known} are refused until they are upgraded or removed.`
    );
  }

  /** Why commands of a later version than the state's are refused. */
  pending(version: number): QuorateError {
    const { store, machine } = this.#ports.host;
    const late = this.#shown().filter((one) => (one.version ?? 0) < version);
    const who = late.map(({ name, version: known }) =>
      known === undefined ? `${name} was not heard of yet` : `${name} knows version ${known}`,
    );
    const why =
      version > machine.versions.known
        ? `which this node does not know itself: it knows ${machine.versions.known}`
        : `which every member has to know${who.length === 0 ? "" : `: ${who.join(", ")}`}`;
    return new QuorateError(
      "UPGRADE_PENDING",
      `This is a command of ${version === Number.POSITIVE_INFINITY ? "a later version" : `version ${version}`} of the ` +
        `state machine, ${why}. The cluster is of version ${store.version}. Nothing was done: upgrade all members, or ` +
        "remove those that are left behind, and try again.",
      { retryable: true },
    );
  }

  #observed({ kind }: NodeEvent): void {
    if (kind === "peerLinked" || kind === "membershipChanged") this.#look();
  }

  /** Those in force, and what they have shown last. */
  #shown(): readonly Shown[] {
    const { node, host } = this.#ports;
    const { configuration, peers } = node.status();
    if (configuration === undefined) return [];
    return membersOf(configuration).map(({ id }) => ({
      name: nodeIdOf(id),
      version:
        id === node.member ? host.machine.versions.known : peers.find(({ member }) => member === id)?.machine,
    }));
  }

  #look(): void {
    const { host } = this.#ports;
    const office = this.#office;
    const { known } = host.machine.versions;
    if (office === undefined || this.#isUnderWay || host.store.version >= known) return;
    const shown = this.#shown();
    const version = Math.min(known, ...shown.map((one) => one.version ?? 0));
    if (shown.length === 0 || version <= host.store.version) return;
    host.demand(version);
    this.#isUnderWay = true;
    void this.#propose(office, version);
  }

  async #propose(office: number, version: number): Promise<void> {
    const { node, host, logger, clock } = this.#ports;
    const command = { kind: "raiseVersion", office, version } as const;
    try {
      await node.propose(encodeProposal({ origin: { kind: "anonymous" }, command }));
      logger.info({ version: host.store.version }, "The version of the state machine was raised.");
    } catch (error) {
      if (!(error instanceof QuorateError)) throw error;
      logger.debug(
        { version, code: error.code },
        "The version of the state machine could not be raised yet.",
      );
    }
    this.#isUnderWay = false;
    if (this.#office === undefined || host.store.version >= version) return;
    this.#cancelRetry?.();
    this.#cancelRetry = clock.after(retryMs, () => {
      this.#cancelRetry = undefined;
      this.#look();
    });
  }
}
