/** Builds the machine's state anew from a snapshot on this node's disk, with a turn of the node between its pieces. */
import type { SnapshotHeader } from "../core/index.ts";
import { QuorateError } from "../errors.ts";
import { type Clock, isSnapshotting, type SnapshotStore, type StateMachine } from "../ports/index.ts";
import { yieldTurn } from "./snapshotTaker.ts";

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
  for (let offset = 0; offset < header.bytes; ) {
    const piece = await snapshots.read(header, offset, pieceBytes);
    if (piece.length === 0) {
      throw new QuorateError(
        "SNAPSHOT_DAMAGED",
        `The snapshot of entry ${header.boundary.index} ends after ${offset} of ${header.bytes} bytes.`,
      );
    }
    restoration.add(piece);
    offset += piece.length;
    await yieldTurn(clock);
  }
  restoration.finish();
}
