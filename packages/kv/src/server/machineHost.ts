/**
 * The pure machine as Raft's runtime wants it, and as the server reads it. The state lives here; it changes in `apply`,
 * and as a whole when a snapshot is restored.
 */
import { type CommandResult, machineVersion } from "@quorate/client/protocol";
import type { Entry, MachineVersions, Snapshotting, StateMachine } from "@quorate/raft";
import {
  type Applied,
  applyAndTell,
  createStore,
  restoreContent,
  type StoreState,
  viewOf,
  writeContent,
} from "../machine/index.ts";
import { readingState } from "./readingState.ts";

export interface MachineHost {
  readonly store: StoreState;
  readonly machine: StateMachine<CommandResult> & Snapshotting & { readonly versions: MachineVersions };
  /** Entries of this version are about to come: whoever knows less is no member to speak with. 1: none are. */
  readonly demand: (version: number) => void;
  /** Called for each session that an entry opens, in the turn in which it is applied. */
  onSessionOpened: (session: number) => void;
  /** Called for each entry that ended sessions or changed leases, in the turn in which it is applied. */
  onLeasesChanged: (applied: Applied) => void;
  /** Called after each entry, in the turn in which it is applied. */
  onApplied: (entry: Entry) => void;
  /** Called when a snapshot has replaced the whole state. */
  onRestored: () => void;
}

export function createMachineHost(known: number = machineVersion): MachineHost {
  const store = createStore();
  let demanded = 1;
  const host: MachineHost = {
    store,
    machine: {
      versions: {
        known,
        get required() {
          return Math.max(store.version, demanded);
        },
      },
      apply(entry: Entry): CommandResult {
        const applied = readingState(() => applyAndTell(store, entry));
        const { result } = applied;
        if (result.kind === "sessionOpened") host.onSessionOpened(result.session);
        if (applied.sessions.size > 0 || applied.leases.size > 0) host.onLeasesChanged(applied);
        host.onApplied(entry);
        return result;
      },
      view() {
        const view = viewOf(store);
        return { chunks: () => writeContent(view) };
      },
      restore() {
        const { add, finish } = restoreContent();
        return {
          add: (chunk) => readingState(() => add(chunk)),
          finish() {
            Object.assign(store, finish());
            host.onRestored();
          },
        };
      },
    },
    demand(version) {
      demanded = version;
    },
    onSessionOpened: () => {},
    onLeasesChanged: () => {},
    onApplied: () => {},
    onRestored: () => {},
  };
  return host;
}
