/**
 * Versions of the state machine's commands: what lets a cluster of two releases go on while it is upgraded.
 *
 * Whoever does not know a command's number calls it malformed, and its store would come to differ from that of members
 * who run it. So the replicated state has a version, which an entry raises once every member has shown that it knows
 * it; a command of a later one is proposed by nobody, and run by nobody, before that.
 */
import type { Command } from "./commands.ts";

/**
 * The newest that this release knows. Version 2 added grace periods and the version itself; version 3 the loss of a
 * lease as its holder tells it, and bounds of what one entry changes (`boundedEntries`).
 */
export const machineVersion = 3;

/**
 * From this version on the end of a grace period grants nothing by itself, but lets the leader grant in portions; a
 * session has no more than so many keys attached, since they go in one entry; and what a transaction reads is counted
 * with its keys.
 */
export const boundedEntries = 3;

const since: Partial<Readonly<Record<Command["kind"], number>>> = {
  endGrace: 2,
  grantAtOnce: 2,
  loseLease: 3,
};

/** The version from which on it may be run. `raiseVersion` is what makes later ones, and may be run in any. */
export function versionOfCommand(kind: Command["kind"]): number {
  return since[kind] ?? 1;
}
