/**
 * The smallest state machine worth replicating: a list of the serial numbers that it was given.
 *
 * Each write carries a serial of its own, so that a lost, repeated or invented write shows. Its snapshots are that
 * list, four bytes each, after the index of the last entry.
 */
import type { Entry, Snapshotting, StateMachine, StateRestoration, StateView } from "@quorate/raft";

export interface Listed {
  readonly serial: number;
  /** How many serials were listed before. */
  readonly position: number;
}

export type ListMachine = StateMachine<Listed> &
  Snapshotting & {
    readonly serials: readonly number[];
    readonly appliedIndex: number;
  };

/** Small, so that a snapshot has several pieces to die between. */
const serialsAPiece = 16;

export function encodeSerial(serial: number): Uint8Array {
  return encodeNumbers([serial]);
}

function encodeNumbers(numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * numbers.length);
  const view = new DataView(bytes.buffer);
  for (const [at, number] of numbers.entries()) view.setUint32(4 * at, number);
  return bytes;
}

function decodeNumbers(bytes: Uint8Array): number[] {
  if (bytes.length % 4 !== 0) throw new Error(`${bytes.length} bytes are no list of numbers`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / 4 }, (_, at) => view.getUint32(4 * at));
}

export function listMachine(): ListMachine {
  let serials: number[] = [];
  let appliedIndex = 0;
  return {
    get serials() {
      return serials;
    },
    get appliedIndex() {
      return appliedIndex;
    },
    apply(entry: Entry): Listed {
      appliedIndex = entry.index;
      if (entry.kind !== "command") return { serial: -1, position: serials.length };
      const [serial = -1] = decodeNumbers(entry.data);
      serials.push(serial);
      return { serial, position: serials.length - 1 };
    },
    view: () => viewOf(appliedIndex, serials, serials.length),
    restore: () =>
      restoration((numbers) => {
        const [index, ...listed] = numbers;
        if (index === undefined) throw new Error("a snapshot of a list begins with an index");
        appliedIndex = index;
        serials = listed;
      }),
  };
}

/** The list only grows, so its first `length` serials stay what they are. */
function viewOf(appliedIndex: number, serials: readonly number[], length: number): StateView {
  return {
    *chunks() {
      yield encodeNumbers([appliedIndex]);
      for (let at = 0; at < length; at += serialsAPiece) {
        yield encodeNumbers(serials.slice(at, Math.min(length, at + serialsAPiece)));
      }
    },
  };
}

function restoration(finish: (numbers: number[]) => void): StateRestoration {
  const bytes: number[] = [];
  return {
    add(chunk) {
      for (const byte of chunk) bytes.push(byte);
    },
    finish: () => finish(decodeNumbers(Uint8Array.from(bytes))),
  };
}
