/**
 * Connections to the nodes that may lead next, opened when there is nothing better to do. When the leader goes, its
 * successor is then one question away: dialing it first would cost more than its election.
 */
import type { Cancel, Clock, Random } from "@quorate/raft";
import { type BackoffOptions, backoffMs } from "./backoff.ts";
import type { EndpointBook } from "./endpointBook.ts";

/** A client of one moment, such as a command, is gone before it opens any. */
const openingPauses: BackoffOptions = { firstMs: 1_000, factor: 2, capMs: 30_000 };
/** A node that was restarted is back within a second, and may lead soon after: the first tries come close together. */
const reopeningPauses: BackoffOptions = { firstMs: 150, factor: 1.15, capMs: 30_000 };
const maxStandbys = 8;

/** The members as they call themselves; before they are known, who was configured. */
export function standbyEndpoints({ members, configured }: EndpointBook): readonly string[] {
  const known = members.length > 0 ? members.map(({ endpoint }) => endpoint) : configured;
  return known.slice(0, maxStandbys);
}

export class Standbys {
  readonly #clock: Clock;
  readonly #random: Random;
  /** True where a connection stands to each of them. Must not reject. */
  readonly #open: (endpoints: readonly string[]) => Promise<boolean>;
  #endpoints: readonly string[] = [];
  #pauses: BackoffOptions = openingPauses;
  /** Since one was lost last. */
  #tries = 0;
  #isMissing = false;
  #isBusy = false;
  #isStopped = false;
  #cancelPause: Cancel | undefined;

  constructor(
    ports: { readonly clock: Clock; readonly random: Random },
    open: (endpoints: readonly string[]) => Promise<boolean>,
  ) {
    this.#clock = ports.clock;
    this.#random = ports.random;
    this.#open = open;
  }

  /** From now on these. */
  keep(endpoints: readonly string[]): void {
    const pauses = this.#endpoints.length > 0 ? reopeningPauses : openingPauses;
    this.#endpoints = endpoints;
    this.#miss(pauses);
  }

  /** One of the connections may be missing: it is opened after a pause. */
  lost(): void {
    this.#miss(reopeningPauses);
  }

  /** A pause that has grown long over another node is cut: the one that was just lost may be back soon. */
  #miss(pauses: BackoffOptions): void {
    const hasTried = this.#tries > 0;
    this.#isMissing = true;
    this.#pauses = pauses;
    this.#tries = 0;
    if (this.#isBusy && hasTried) this.#cancelPause?.();
    else if (!this.#isBusy && this.#endpoints.length > 0) void this.#tend();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelPause?.();
  }

  async #tend(): Promise<void> {
    this.#isBusy = true;
    while (this.#isMissing && !this.#isStopped) {
      if (!(await this.#pause(backoffMs(this.#random, this.#pauses, this.#tries)))) continue;
      this.#tries += 1;
      this.#isMissing = false;
      if (!this.#isStopped && !(await this.#open(this.#endpoints))) this.#isMissing = true;
    }
    this.#isBusy = false;
  }

  /** False where it was cut short. */
  #pause(delayMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancelTimer = this.#clock.after(delayMs, () => resolve(true));
      this.#cancelPause = () => {
        cancelTimer();
        resolve(false);
      };
    });
  }
}
