/**
 * A leader hands its office over: on demand, and before it stops, so that a planned restart costs writes a few
 * milliseconds and not an election timeout.
 *
 * The core decides whether and to whom; here its answer is waited for, and then the successor.
 */
import { configurationOf, type MemberId, nodeIdOf, type RaftState } from "../core/index.ts";
import { QuorateError } from "../errors.ts";
import type { Clock } from "../ports/index.ts";
import type { CoreDriver } from "./coreDriver.ts";
import { Preference } from "./preference.ts";
import type { NodeEvent, Succession, TransferOptions } from "./raftNode.ts";
import type { Waiters } from "./waiters.ts";

export interface HandoverPorts {
  /** Or why the node takes no requests. */
  driver(): CoreDriver<unknown> | QuorateError;
  readonly waiters: Waiters<unknown>;
  readonly clock: Clock;
  readonly electionTimeoutMaxMs: number;
  readonly priority: number;
  /** What a linked peer has shown; undefined where no link stands. */
  priorityOf(peer: MemberId): number | undefined;
  observe(listener: (event: NodeEvent) => void): () => void;
}

export class Handover {
  readonly #ports: HandoverPorts;
  readonly #preference: Preference;
  #retiring: Promise<void> | undefined;

  constructor(ports: HandoverPorts) {
    this.#ports = ports;
    this.#preference = new Preference({
      clock: ports.clock,
      priority: ports.priority,
      priorityOf: (peer) => ports.priorityOf(peer),
      state: () => this.#stateOf(ports.driver()),
      transfer: (target) => this.transfer({ target: nodeIdOf(target) }),
    });
  }

  #stateOf(driver: CoreDriver<unknown> | QuorateError): RaftState | undefined {
    return driver instanceof QuorateError || this.#retiring !== undefined ? undefined : driver.state;
  }

  async transfer({ target, signal }: TransferOptions): Promise<Succession> {
    const driver = this.#ports.driver();
    if (driver instanceof QuorateError) throw driver;
    const member = target === undefined ? undefined : voterNamed(driver.state, target);
    await this.#ports.waiters.transfer(signal, (id) =>
      driver.push({ kind: "transferRequested", id, target: member }),
    );
    return this.#successor(driver.state);
  }

  /** Once for all who ask. Resolves also where nobody took over. */
  retire(): Promise<void> {
    this.#retiring ??= this.#retire();
    return this.#retiring;
  }

  /** Tries as often as there are voters, within one election timeout in all. */
  async #retire(): Promise<void> {
    const { clock, electionTimeoutMaxMs } = this.#ports;
    const driver = this.#ports.driver();
    if (driver instanceof QuorateError) return;
    const limit = new AbortController();
    const cancel = clock.after(electionTimeoutMaxMs, () => limit.abort());
    const { length } = configurationOf(driver.state.log).voters;
    for (let tries = 0; tries < length && this.#hasSuccessor(driver.state); tries += 1) {
      if (limit.signal.aborted) break;
      try {
        await this.transfer({ signal: limit.signal });
        await this.#served(driver, limit.signal);
      } catch (error) {
        // Nobody could be told, or nobody answered: the others will elect one of them when we are gone.
        if (!(error instanceof QuorateError)) throw error;
      }
    }
    cancel();
  }

  /**
   * The successor has committed something of its own, as its answer to a read tells. Until then this node counts for
   * its majority and sends clients there: to go at once would cost just the writes that the transfer is to spare.
   */
  async #served(driver: CoreDriver<unknown>, signal: AbortSignal): Promise<void> {
    await this.#ports.waiters.read(signal, (id) => driver.push({ kind: "readRequested", id }));
  }

  #hasSuccessor({ role, log }: RaftState): boolean {
    if (role !== "leader") return false;
    return configurationOf(log).voters.some(({ id }) => this.#ports.priorityOf(id) !== undefined);
  }

  /** The office is given up; the one who has it now makes itself known within milliseconds. */
  #successor(state: RaftState): Promise<Succession> {
    const { clock, electionTimeoutMaxMs, observe } = this.#ports;
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const { leader, currentTerm: term } = state;
        if (leader === undefined) return;
        end();
        resolve({ leader: nodeIdOf(leader), term });
      };
      const end = (): void => {
        cancel();
        stopObserving();
      };
      const stopObserving = observe((event) => {
        if (event.kind === "roleChanged") look();
      });
      const cancel = clock.after(electionTimeoutMaxMs, () => {
        end();
        const sentence = "This node gave leadership up, and no successor has made itself known yet.";
        reject(new QuorateError("TRANSFER_FAILED", sentence, { retryable: true, outcome: "unknown" }));
      });
      look();
    });
  }

  /**
   * Writes that waited for a transfer are told when there is a leader to be named, or the candidate that has our vote,
   * with which they wait for its election; or after an election timeout.
   */
  roleChanged(leader: MemberId | undefined): void {
    const { clock, electionTimeoutMaxMs, waiters } = this.#ports;
    const isNamed = leader !== undefined || this.#hasVotedForAnother();
    if (isNamed) waiters.successorKnown();
    else if (waiters.awaitsSuccessor) clock.after(electionTimeoutMaxMs, () => waiters.successorKnown());
    this.#preference.look();
  }

  #hasVotedForAnother(): boolean {
    const driver = this.#ports.driver();
    if (driver instanceof QuorateError) return false;
    const { vote, options } = driver.state;
    return vote !== undefined && vote !== options.self;
  }

  peerLinked(): void {
    this.#preference.look();
  }

  /** The node ends. */
  stop(): void {
    this.#preference.stop();
  }
}

function voterNamed(state: RaftState, target: string): MemberId {
  const { voters } = configurationOf(state.log);
  const found = voters.find(({ id }) => nodeIdOf(id) === target);
  if (found !== undefined) return found.id;
  const names = voters.map(({ id }) => nodeIdOf(id)).join(", ");
  throw new QuorateError("INVALID_ARGUMENT", `${target} is no voter of this cluster; voters are ${names}.`);
}
