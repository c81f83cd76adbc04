/**
 * Versions of the state machine's commands: what lets a cluster of two releases go on while it is upgraded.
 *
 * Whoever does not know a command's number calls it malformed, and its store would come to differ from that of members
 * who run it. So the replicated state has a version, which an entry raises once every member has shown that it knows
 * it; a command of a later one is proposed by nobody, and run by nobody, before that.
 */
import type { Command } from "./commands.ts";

/** The newest that this release knows. Version 2 added grace periods and the version itself. */
export const machineVersion = 2;

const sinceVersion2: ReadonlySet<Command["kind"]> = new Set(["endGrace", "grantAtOnce"]);

/** The version from which on it may be run. `raiseVersion` is what makes later ones, and may be run in any. */
export function versionOfCommand(kind: Command["kind"]): number {
  return sinceVersion2.has(kind) ? 2 : 1;
}
