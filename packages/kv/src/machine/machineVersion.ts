/**
 * The version of the machine that the log is of: see the protocol's machineVersion.ts. It is part of the state, and
 * rises by an entry alone.
 */
import { type Command, machineVersion, type VersionRaise, versionOfCommand } from "@quorate/client/protocol";
import type { Change } from "./change.ts";
import type { StoreState } from "./storeState.ts";

/** The log, or a snapshot, is of a version that this release does not know: whoever went on would misread it. */
export class NewerVersionError extends Error {
  readonly version: number;

  constructor(version: number) {
    super(
      `The state is of version ${version} of the state machine, and this release knows none above ${machineVersion}: it ` +
        "would misread it. Start a newer release on this directory, which is as it should be",
    );
    this.name = "NewerVersionError";
    this.version = version;
  }
}

/** Throws `NewerVersionError`, and the state is as it was. In the term of the leader that has asked the members. */
export function raiseVersion({ state, term }: Change, { office, version }: VersionRaise): void {
  if (office === term) setVersion(state, Math.max(version, state.version));
}

/** Throws `NewerVersionError`. */
export function setVersion(state: StoreState, version: number): void {
  if (version > machineVersion) throw new NewerVersionError(version);
  state.version = version;
}

/** Members that do not know it may still be there, and call it malformed: so does everybody. */
export function isTooNew({ version }: StoreState, { kind }: Command): boolean {
  return versionOfCommand(kind) > version;
}
