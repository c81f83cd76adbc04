/**
 * Preferred nodes: a leader gives its office to a voter of higher priority that is there and keeps up.
 *
 * It only chooses the target of a transfer. Elections know nothing of priorities, so whoever is up leads, and a
 * preferred node that is missing delays nobody. One that cannot hold the office is offered it ever more seldom.
 */
import { configurationOf, type MemberId, type RaftState } from "../core/index.ts";
import { QuorateError } from "../errors.ts";
import type { Cancel, Clock } from "../ports/index.ts";

export interface PreferencePorts {
  readonly clock: Clock;
  /** This node's own. */
  readonly priority: number;
  /** What a linked peer has shown; undefined where no link stands. */
  priorityOf(peer: MemberId): number | undefined;
  /** Undefined before the node is born, and after its end. */
  state(): RaftState | undefined;
  transfer(target: MemberId): Promise<unknown>;
}

/** A leader settles first, and a node that has just come back reads its clients' requests first. */
const firstWaitMs = 2_000;
const longestWaitMs = 300_000;
/** After so long without a handover of this kind, the next one waits no longer than the first. */
const forgottenAfterMs = 900_000;
/** A target that is this far behind would hold writes up while it catches up. */
const maxLag = 1_024;

export class Preference {
  readonly #ports: PreferencePorts;
  #waitMs = firstWaitMs;
  #handedOverMs = Number.NEGATIVE_INFINITY;
  #cancelWait: Cancel | undefined;

  constructor(ports: PreferencePorts) {
    this.#ports = ports;
  }

  /** The role changed, or a peer was linked: somebody preferred may be there now. */
  look(): void {
    if (!this.#leads()) {
      this.stop();
      return;
    }
    if (this.#cancelWait !== undefined || this.#isMostPreferred()) return;
    const { clock } = this.#ports;
    if (clock.nowMs() - this.#handedOverMs >= forgottenAfterMs) this.#waitMs = firstWaitMs;
    this.#cancelWait = clock.after(this.#waitMs, () => {
      this.#cancelWait = undefined;
      void this.#offer();
    });
  }

  stop(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
  }

  async #offer(): Promise<void> {
    const target = this.#target();
    if (target !== undefined) {
      this.#waitMs = Math.min(this.#waitMs * 2, longestWaitMs);
      this.#handedOverMs = this.#ports.clock.nowMs();
      try {
        await this.#ports.transfer(target);
      } catch (error) {
        // It did not take the office, or not in time: it is asked again after the longer wait.
        if (!(error instanceof QuorateError)) throw error;
      }
    }
    this.look();
  }

  #leads(): boolean {
    return this.#ports.state()?.role === "leader";
  }

  /** Nobody of higher priority is linked: no timer runs until that changes. */
  #isMostPreferred(): boolean {
    return this.#preferred().length === 0;
  }

  /** The voters of higher priority that are linked, the highest first; of equal ones in the configuration's order. */
  #preferred(): readonly MemberId[] {
    const state = this.#ports.state();
    if (state === undefined) return [];
    const { priority, priorityOf } = this.#ports;
    return configurationOf(state.log)
      .voters.map(({ id }) => ({ id, theirs: id === state.options.self ? 0 : (priorityOf(id) ?? 0) }))
      .filter(({ theirs }) => theirs > priority)
      .sort((one, other) => other.theirs - one.theirs)
      .map(({ id }) => id);
  }

  #target(): MemberId | undefined {
    const state = this.#ports.state();
    const { leading } = state ?? {};
    if (state === undefined || leading === undefined || leading.transfer !== undefined) return undefined;
    return this.#preferred().find((id) => {
      const peer = leading.peers.get(id);
      if (peer === undefined || state.log.lastIndex - peer.match > maxLag) return false;
      return state.nowMs - peer.heardMs < state.options.electionTimeoutMinMs;
    });
  }
}
