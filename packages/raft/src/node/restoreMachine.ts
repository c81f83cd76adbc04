/** Builds the machine's state anew from a snapshot on this node's disk, with a turn of the node between its pieces. */
import type { SnapshotHeader } from "../core/index.ts";
import { QuorateError } from "../errors.ts";
import { type Clock, isSnapshotting, type SnapshotStore, type StateMachine } from "../ports/index.ts";
import { yieldTurn } from "./workPace.ts";

/** Read at once: a file is opened for each. */
const readBytes = 1_048_576;
/** Given to the machine at once. */
const pieceBytes = 65_536;

/** Rejects where the content cannot be read or means nothing to the machine, whose state is then as it was. */
export async function restoreMachine(
  machine: StateMachine<unknown>,
  snapshots: SnapshotStore,
  header: SnapshotHeader,
  clock: Clock,
): Promise<void> {
  if (!isSnapshotting(machine)) {
    const { index } = header.boundary;
    throw new Error(`there is a snapshot of entry ${index}, and this machine restores none`);
  }
  const restoration = machine.restore();
  let next = readAhead(snapshots, header, 0);
  for (let offset = 0; offset < header.bytes; ) {
    const content = await next;
    if (content === undefined || content.length === 0) {
      throw new QuorateError(
        "SNAPSHOT_DAMAGED",
        `The snapshot of entry ${header.boundary.index} ends after ${offset} of ${header.bytes} bytes.`,
      );
    }
    offset += content.length;
    next = readAhead(snapshots, header, offset);
    for (let at = 0; at < content.length; at += pieceBytes) {
      restoration.add(content.subarray(at, at + pieceBytes));
      await yieldTurn(clock);
    }
  }
  restoration.finish();
}

/** Of the next piece, while the machine takes the one before, which it may refuse: then nobody waits for this. */
function readAhead(
  snapshots: SnapshotStore,
  header: SnapshotHeader,
  offset: number,
): Promise<Uint8Array> | undefined {
  if (offset >= header.bytes) return undefined;
  const read = snapshots.read(header, offset, readBytes);
  read.catch(() => {});
  return read;
}
