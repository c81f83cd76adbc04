/**
 * The smallest state machine worth replicating: a list of the serial numbers that it was given.
 *
 * Each write carries a serial of its own, so that a lost, repeated or invented write shows. Its snapshots are that
 * list, four bytes each, after the index of the last entry.
 */
import type { Entry, Snapshotting, StateMachine, StateRestoration, StateView } from "@quorate/raft";
import { mixNumber } from "../world/mix.ts";

export interface Listed {
  readonly serial: number;
  /** How many serials were listed before. */
  readonly position: number;
}

export type ListMachine = StateMachine<Listed> &
  Snapshotting & {
    readonly serials: readonly number[];
    readonly appliedIndex: number;
    /** All that its snapshot holds. */
    content(): Uint8Array;
    /** Equal for equal lists. */
    digest(): string;
  };

const bytesASerial = 4;

/** Small, so that a snapshot has several pieces to die between. */
const bytesAPiece = 16 * bytesASerial;

export function encodeSerial(serial: number): Uint8Array {
  const bytes = new Uint8Array(bytesASerial);
  put(bytes, 0, serial);
  return bytes;
}

/** Big-endian, as all numbers here. */
function put(bytes: Uint8Array, at: number, number: number): void {
  bytes[at] = number >>> 24;
  bytes[at + 1] = number >>> 16;
  bytes[at + 2] = number >>> 8;
  bytes[at + 3] = number;
}

function get(bytes: Uint8Array, at: number): number {
  let number = 0;
  for (let byte = at; byte < at + bytesASerial; byte += 1) number = number * 256 + (bytes[byte] as number);
  return number;
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
      const serial = get(entry.data, 0);
      serials.push(serial);
      return { serial, position: serials.length - 1 };
    },
    content: () => encodeList(appliedIndex, serials, serials.length),
    digest: () => `${serials.length} serials, ${serials.reduce(mixNumber, 0)}`,
    view: () => viewOf(appliedIndex, serials, serials.length),
    restore: () =>
      restoration((content) => {
        appliedIndex = get(content, 0);
        serials = decodeList(content);
      }),
  };
}

/** The list only grows, so its first `length` serials stay what they are. */
function viewOf(appliedIndex: number, serials: readonly number[], length: number): StateView {
  return {
    *chunks() {
      const content = encodeList(appliedIndex, serials, length);
      yield content.subarray(0, bytesASerial);
      for (let at = bytesASerial; at < content.length; at += bytesAPiece) {
        yield content.subarray(at, at + bytesAPiece);
      }
    },
  };
}

function encodeList(appliedIndex: number, serials: readonly number[], length: number): Uint8Array {
  const bytes = new Uint8Array(bytesASerial * (1 + length));
  put(bytes, 0, appliedIndex);
  for (let at = 0; at < length; at += 1) put(bytes, bytesASerial * (1 + at), serials[at] as number);
  return bytes;
}

function decodeList(content: Uint8Array): number[] {
  const serials: number[] = [];
  for (let at = bytesASerial; at < content.length; at += bytesASerial) serials.push(get(content, at));
  return serials;
}

function restoration(finish: (content: Uint8Array) => void): StateRestoration {
  const chunks: Uint8Array[] = [];
  return {
    add: (chunk) => {
      chunks.push(chunk.slice());
    },
    finish() {
      const content = Buffer.concat(chunks);
      if (content.length === 0 || content.length % bytesASerial !== 0) {
        throw new Error(`${content.length} bytes are no index and list of serials`);
      }
      finish(content);
    },
  };
}
