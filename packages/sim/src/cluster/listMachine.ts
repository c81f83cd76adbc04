/**
 * The smallest state machine worth replicating: a list of the serial numbers that it was given.
 *
 * Each write carries a serial of its own, so that a lost, repeated or invented write shows.
 */
import type { Entry, StateMachine } from "@quorate/raft";

export interface Listed {
  readonly serial: number;
  /** How many serials were listed before. */
  readonly position: number;
}

export interface ListMachine extends StateMachine<Listed> {
  readonly serials: readonly number[];
  readonly appliedIndex: number;
}

export function encodeSerial(serial: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, serial);
  return bytes;
}

export function listMachine(): ListMachine {
  const serials: number[] = [];
  let appliedIndex = 0;
  return {
    serials,
    get appliedIndex() {
      return appliedIndex;
    },
    apply(entry: Entry): Listed {
      appliedIndex = entry.index;
      if (entry.kind !== "command") return { serial: -1, position: serials.length };
      const { buffer, byteOffset } = entry.data;
      const serial = new DataView(buffer, byteOffset, entry.data.byteLength).getUint32(0);
      serials.push(serial);
      return { serial, position: serials.length - 1 };
    },
  };
}
