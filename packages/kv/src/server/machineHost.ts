/**
 * The pure machine as Raft's runtime wants it, and as the server reads it. The state lives here; it changes in `apply`
 * alone.
 */
import type { CommandResult } from "@quorate/client/protocol";
import type { Entry, StateMachine } from "@quorate/raft";
import { applyEntry, createStore, type StoreState } from "../machine/index.ts";

export interface MachineHost {
  readonly store: StoreState;
  readonly machine: StateMachine<CommandResult>;
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
    },
    onSessionOpened: () => {},
  };
  return host;
}
