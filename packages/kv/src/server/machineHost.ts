/**
 * The pure machine as Raft's runtime wants it, and as the server reads it. The state lives here; it changes in `apply`,
 * and as a whole when a snapshot is restored.
 */
import type { CommandResult } from "@quorate/client/protocol";
import type { Entry, Snapshotting, StateMachine } from "@quorate/raft";
import {
  applyEntry,
  createStore,
  restoreContent,
  type StoreState,
  viewOf,
  writeContent,
} from "../machine/index.ts";

export interface MachineHost {
  readonly store: StoreState;
  readonly machine: StateMachine<CommandResult> & Snapshotting;
  /** Called for each session that an entry opens, in the turn in which it is applied. */
  onSessionOpened: (session: number) => void;
}

export function createMachineHost(): MachineHost {
  const store = createStore();
  const host: MachineHost = {
    store,
    machine: {
      apply(entry: Entry): CommandResult {
        const result = applyEntry(store, entry);
        if (result.kind === "sessionOpened") host.onSessionOpened(result.session);
        return result;
      },
      view() {
        const view = viewOf(store);
        return { chunks: () => writeContent(view) };
      },
      restore() {
        const { add, finish } = restoreContent();
        return { add, finish: () => void Object.assign(store, finish()) };
      },
    },
    onSessionOpened: () => {},
  };
  return host;
}
