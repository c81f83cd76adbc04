/**
 * A node between its start and its end: unborn, then driven by the core, then closed.
 *
 * What comes from peers is sorted here (birth, Raft, or nobody's business) and what callers ask is handed on. Nothing
 * here decides anything about Raft.
 */
import {
  type ConfigurationAt,
  type Index,
  invariant,
  type MemberChange,
  type MemberId,
  type MembershipView,
  nodeIdOf,
  type RestoredState,
  type RoleChange,
} from "../core/index.ts";
import { type Outcome, QuorateError } from "../errors.ts";
import { isBirthMessage, type PeerAddress } from "../ports/birthMessages.ts";
import {
  type Birth,
  type CloseCause,
  type PeerHello,
  type PeerMessage,
  type Refusal,
  randomHex,
  type Seen,
  type TransportHandlers,
} from "../ports/index.ts";
import { BirthProcess } from "./birthProcess.ts";
import { Complaints, complaintOf, isPassing } from "./complaints.ts";
import { CoreDriver, type CoreObserver } from "./coreDriver.ts";
import { Handover } from "./handover.ts";
import { MembershipWaiters } from "./membershipWaiters.ts";
import { coreOptions, type ResolvedRaftOptions } from "./options.ts";
import { ownHello } from "./ownHello.ts";
import { OwnMembership } from "./ownMembership.ts";
import { PeerRegistry } from "./peerRegistry.ts";
import type {
  Applied,
  ChangeOptions,
  NodeEvent,
  NodeStatus,
  RaftNode,
  ReadPoint,
  Succession,
  TransferOptions,
  WaitOptions,
} from "./raftNode.ts";
import { whyNotReady } from "./readiness.ts";
import { restoreMachine } from "./restoreMachine.ts";
import { RoleNotes } from "./roleNotes.ts";
import type { SnapshotEvent } from "./snapshotEvents.ts";
import type { StartOptions } from "./start.ts";
import { nodeStatus } from "./status.ts";
import { asStopReason } from "./stopReason.ts";
import { Waiters } from "./waiters.ts";

export interface RunningOptions<Result>
  extends Omit<StartOptions<Result>, "options" | "logger" | "observer" | "joins"> {
  readonly self: MemberId;
  readonly joins: string | undefined;
  readonly configuredPeers: readonly PeerAddress[];
  readonly resolved: ResolvedRaftOptions;
  readonly logger: NonNullable<StartOptions<Result>["logger"]>;
  readonly observer: CoreObserver;
}

export class RunningNode<Result> implements RaftNode<Result> {
  readonly member: MemberId;
  readonly closed: Promise<void>;
  readonly #options: RunningOptions<Result>;
  readonly #start: string;
  readonly #peers: PeerRegistry;
  readonly #birth: BirthProcess;
  readonly #waiters = new Waiters<Result>();
  readonly #memberships = new MembershipWaiters();
  readonly #listeners = new Set<(event: NodeEvent) => void>();
  readonly #handover: Handover;
  #driver: CoreDriver<Result> | undefined;
  readonly #own: OwnMembership;
  readonly #complaints: Complaints;
  readonly #roles: RoleNotes;
  #ending: Promise<void> | undefined;
  #settleClosed!: { resolve(): void; reject(error: QuorateError): void };

  constructor(options: RunningOptions<Result>) {
    this.#options = options;
    this.member = options.self;
    this.#start = randomHex(options.random, 16);
    this.closed = new Promise((resolve, reject) => {
      this.#settleClosed = { resolve, reject };
    });
    // Whoever cares awaits `closed`; for whoever does not, a stopped node is not an unhandled rejection.
    this.closed.catch(() => {});
    this.#roles = new RoleNotes(options.logger);
    this.#complaints = new Complaints((sentence) => options.logger.warn({ member: this.member }, sentence));
    this.#peers = new PeerRegistry(options.log, options.self, options.configuredPeers, {
      required: () => options.machine.versions?.required ?? 1,
      complain: (sentence) => this.#complaints.add(sentence),
    });
    const removed = (index: Index): void => this.#emit({ kind: "removed", index });
    this.#own = new OwnMembership(options.self, options.log, removed);
    this.#handover = new Handover({
      driver: () => this.#readyDriver(),
      waiters: this.#waiters,
      clock: options.clock,
      electionTimeoutMaxMs: options.resolved.electionTimeoutMaxMs,
      priority: options.resolved.priority,
      priorityOf: (peer) => this.#peers.priorityOf(peer),
      observe: (listener) => this.observe(listener),
    });
    this.#birth = new BirthProcess({
      log: options.log,
      random: options.random,
      self: options.self,
      peers: options.configuredPeers,
      joins: options.joins,
      clock: options.clock,
      electionTimeoutMaxMs: options.resolved.electionTimeoutMaxMs,
      isMember: (member) => this.#peers.isMember(member),
      send: (to, message) => options.transport.send(to, [message]),
      born: (birth) => this.#born(birth),
      complain: (sentence) => this.#complaints.add(sentence),
      failed: (error) => this.#fail(error),
    });
  }

  start(): void {
    const { log, transport, logger } = this.#options;
    transport.start(this.#transportHandlers());
    const { standing } = log;
    if (standing.kind === "lost") this.#complaints.add(complaintOf(standing));
    if (standing.kind === "born") this.#run();
    else transport.setPeers(this.#peers.targets());
    this.#birth.start();
    logger.info({ member: this.member, standing: standing.kind, boot: log.boot }, "The node started.");
  }

  propose(data: Uint8Array, { signal }: WaitOptions = {}): Promise<Applied<Result>> {
    const { maxCommandBytes } = this.#options.resolved;
    if (data.byteLength > maxCommandBytes) {
      const sentence = `The command has ${data.byteLength} bytes; at most ${maxCommandBytes} fit.`;
      return Promise.reject(new QuorateError("TOO_LARGE", sentence));
    }
    const driver = this.#readyDriver();
    if (driver instanceof QuorateError) return Promise.reject(driver);
    return this.#waiters.proposal(signal, (id) =>
      driver.push({ kind: "proposed", id, entry: "command", data }),
    );
  }

  readIndex({ signal }: WaitOptions = {}): Promise<ReadPoint> {
    const driver = this.#readyDriver();
    return driver instanceof QuorateError ? Promise.reject(driver) : driver.readIndex(signal);
  }

  changeMembers(
    changes: readonly MemberChange[],
    { signal, ifIndex }: ChangeOptions = {},
  ): Promise<ConfigurationAt> {
    const driver = this.#readyDriver();
    if (driver instanceof QuorateError) return Promise.reject(driver);
    return this.#memberships.request(signal, (id) =>
      driver.push({ kind: "membershipRequested", id, changes, ifIndex }),
    );
  }

  transferLeadership(options: TransferOptions = {}): Promise<Succession> {
    return this.#handover.transfer(options);
  }

  retire(): Promise<void> {
    return this.#handover.retire();
  }

  status(): NodeStatus {
    return nodeStatus({
      member: this.member,
      log: this.#options.log,
      driver: this.#driver,
      peers: this.#peers,
      ownAddress: this.#options.address,
      own: this.#own,
      complaints: this.#complaints.sentences,
      closed: this.#ending !== undefined,
    });
  }

  observe(listener: (event: NodeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await this.retire();
    return this.#end(undefined);
  }

  #readyDriver(): CoreDriver<Result> | QuorateError {
    const driver = this.#driver;
    const refusal = whyNotReady(driver, this.#options.log.standing.kind, this.#ending !== undefined);
    if (refusal !== undefined) return refusal;
    invariant(driver !== undefined, "a node that is ready has a driver", { member: this.member });
    return driver;
  }

  #transportHandlers(): TransportHandlers {
    const { self, log, address, resolved, machine } = this.#options;
    const { priority } = resolved;
    const own = { self, log, start: this.#start, address, priority, machine: machine.versions?.known ?? 1 };
    return {
      hello: () => ownHello(own),
      sequence: () => this.#options.log.sequence,
      admit: (peer) => this.#admit(peer),
      linked: (peer) => this.#linked(peer),
      received: (from, sequence, messages) => this.#received(from, sequence, messages),
      unlinked: (peer) => this.#unlinked(peer),
      lost: (peer, cause) => this.#lost(peer, cause),
      refusedBy: (node, refusal) => this.#refusedBy(node, refusal),
    };
  }

  #admit(peer: PeerHello): Refusal | undefined {
    const refusal = this.#peers.judge(peer);
    if (refusal !== undefined) {
      this.#options.logger.warn(
        { peer: peer.member, code: refusal.code },
        `Refused a peer: ${refusal.reason}`,
      );
      return refusal;
    }
    this.#peers.greeted(peer);
    if (this.#peers.isStranger(peer.member)) this.#retarget();
    const { start, boot, sequence } = peer;
    this.#remember(peer.member, { start, boot, sequence });
    return undefined;
  }

  #retarget(): void {
    if (this.#driver !== undefined) this.#options.transport.setPeers(this.#peers.targets());
  }

  #remember(peer: MemberId, seen: Seen): void {
    this.#options.log.remember(peer, seen).catch((error: unknown) => this.#fail(error));
  }

  #linked(peer: PeerHello): void {
    this.#peers.linked(peer);
    this.#birth.linked(peer.member, peer.clusterId);
    this.#handover.peerLinked();
    this.#emit({ kind: "peerLinked", peer: nodeIdOf(peer.member) });
  }

  #unlinked(peer: MemberId): void {
    this.#peers.unlinked(peer);
    this.#birth.unlinked(peer);
  }

  #lost(peer: MemberId, cause: CloseCause): void {
    if (this.#peers.lost(peer)) this.#retarget();
    if (cause === "remote") this.#driver?.push({ kind: "peerLost", peer });
    this.#emit({ kind: "peerLost", peer: nodeIdOf(peer), reason: cause });
  }

  #received(from: MemberId, sequence: number, messages: readonly PeerMessage[]): void {
    if (this.#ending !== undefined || this.#peers.isOfOtherCluster(from) || this.#peers.isOutdated(from))
      return;
    const seen = this.#options.log.seen.get(from);
    if (seen !== undefined && sequence > seen.sequence) this.#remember(from, { ...seen, sequence });
    for (const message of messages) {
      if (isBirthMessage(message)) this.#birth.received(from, message);
      else if (this.#driver !== undefined) {
        this.#birth.heardAsMember(from);
        if (this.#peers.heard(from)) this.#retarget();
        this.#driver.push({ kind: "received", from, message });
      }
    }
  }

  #refusedBy(node: string, refusal: Refusal): void {
    if (isPassing(refusal)) return;
    this.#complaints.add(`${node} refuses this node: ${refusal.reason}`);
    if (refusal.code !== "rolledBack") return;
    const { log } = this.#options;
    log.quarantine(`${node} said: ${refusal.reason}`).then(
      () => this.#fail(new QuorateError("DATA_LOST", `${node} said: ${refusal.reason}`)),
      (error: unknown) => this.#fail(error),
    );
  }

  #born(birth: Birth): void {
    if (this.#ending !== undefined) return;
    this.#run();
    this.#emit({ kind: "born", clusterId: birth.clusterId });
  }

  /** What is in its snapshot comes into the machine before the node takes part. */
  #run(): void {
    const { clock, log, machine } = this.#options;
    const { standing } = log;
    invariant(standing.kind === "born", "a node that runs is born", { member: this.member });
    const { snapshot } = standing.restored;
    if (snapshot === undefined) this.#drive(standing.restored);
    else {
      restoreMachine(machine, log.snapshots, snapshot, clock).then(
        () => this.#ending === undefined && this.#drive(standing.restored),
        (error: unknown) => this.#fail(error),
      );
    }
  }

  #drive(restored: RestoredState): void {
    const { clock, log, logger, machine, observer, random, resolved, transport } = this.#options;
    this.#driver = new CoreDriver(coreOptions(resolved, this.member, random.uint32()), restored, {
      clock,
      log,
      machine,
      waiters: this.#waiters,
      memberships: this.#memberships,
      observer,
      options: resolved,
      snapshotEvent: (event) => this.#snapshotEvent(event),
      send: (to, messages) => {
        if (!this.#peers.isOutdated(to)) transport.send(to, messages);
      },
      roleChanged: (change) => this.#roleChanged(change),
      membershipChanged: (view) => this.#membershipChanged(view),
      failed: (error) => this.#fail(error),
    });
    this.#peers.membershipChanged(this.#driver.state.outbox.toldMembership);
    this.#own.follow(this.#driver.state);
    for (const difference of this.#peers.differences()) {
      logger.info(difference, "The peers option differs from the log, whose members count.");
    }
    transport.setPeers(this.#peers.targets());
    this.#complaints.add(complaintOf(log.standing));
  }

  #roleChanged(change: RoleChange): void {
    const { role, term, leader } = change;
    this.#roles.changed(change);
    this.#handover.roleChanged(leader);
    this.#emit({ kind: "roleChanged", role, term, leader });
  }

  #snapshotEvent(event: SnapshotEvent): void {
    const { kind, ...facts } = event;
    if (kind === "snapshotFailed") this.#options.logger.warn(facts, "A snapshot failed; it is tried again.");
    else this.#options.logger.debug({ kind, ...facts }, "Of snapshots.");
    this.#emit(event);
  }

  #membershipChanged(view: MembershipView): void {
    const { inForce } = view;
    this.#peers.membershipChanged(view);
    this.#options.transport.setPeers(this.#peers.targets());
    this.#emit({ kind: "membershipChanged", ...inForce });
    if (this.#driver !== undefined) this.#own.follow(this.#driver.state);
  }

  #emit(event: NodeEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #fail(error: unknown): void {
    if (this.#ending !== undefined) return;
    const reason = asStopReason(error);
    this.#options.logger.error(
      { code: reason.code, ...(reason.cause === undefined ? {} : { cause: String(reason.cause) }) },
      `The node stops: ${reason.message}`,
    );
    void this.#end(reason);
  }

  #end(reason: QuorateError | undefined): Promise<void> {
    this.#ending ??= this.#shutDown(reason);
    return this.#ending;
  }

  async #shutDown(reason: QuorateError | undefined): Promise<void> {
    const { log, transport } = this.#options;
    this.#driver?.stop();
    this.#handover.stop();
    this.#birth.stop();
    const why = reason === undefined ? "This node was closed." : `This node stopped: ${reason.message}`;
    const closed = (outcome: Outcome): QuorateError =>
      new QuorateError("CLOSED", why, { retryable: true, outcome, cause: reason });
    this.#waiters.end(closed);
    this.#memberships.end(closed);
    // Links and log end whatever happens to the other; only a fault of the log itself is worth telling.
    const [, logClosed] = await Promise.allSettled([transport.close(), log.close()]);
    if (reason !== undefined) this.#settleClosed.reject(reason);
    else if (logClosed.status === "rejected") this.#settleClosed.reject(asStopReason(logClosed.reason));
    else this.#settleClosed.resolve();
  }
}
