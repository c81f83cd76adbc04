/**
 * Finds connections whose other side is gone without a word: a pulled cable, a power cut, a firewall that
 * forgot.
 *
 * One timer for a whole network, which runs only while there is a connection. Nothing is done per frame: the
 * socket counts bytes anyway, and a connection over which some arrived is alive and not even asked. Silence
 * is counted in rounds, not in time, so that a process that was stopped does not give up on its peers when it
 * wakes.
 */
import { maxSilentIntervals } from "./options.ts";

export interface Living {
  readonly bytesRead: number;
  ping(): void;
  /** Nothing arrived for as long as a connection may be silent. */
  giveUp(): void;
}

interface Pulse {
  bytesRead: number;
  silentRounds: number;
}

export class Liveness {
  readonly #intervalMs: number;
  readonly #pulses = new Map<Living, Pulse>();
  #timer: NodeJS.Timeout | undefined;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  watch(connection: Living): void {
    this.#pulses.set(connection, { bytesRead: connection.bytesRead, silentRounds: 0 });
    this.#timer ??= setInterval(() => this.#round(), this.#intervalMs).unref();
  }

  forget(connection: Living): void {
    this.#pulses.delete(connection);
    if (this.#pulses.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #round(): void {
    for (const [connection, pulse] of [...this.#pulses]) {
      const { bytesRead } = connection;
      if (bytesRead !== pulse.bytesRead) {
        pulse.bytesRead = bytesRead;
        pulse.silentRounds = 0;
        continue;
      }
      pulse.silentRounds += 1;
      if (pulse.silentRounds >= maxSilentIntervals) connection.giveUp();
      else connection.ping();
    }
  }
}
