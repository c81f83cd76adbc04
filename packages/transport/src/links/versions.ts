/**
 * Protocol versions: each side shows the range that it speaks, and both take the highest that is in both.
 *
 * The choice is computed on both sides from the same two ranges, so that it needs no further message; an
 * upgrade of one node at a time works as long as neighbouring releases share a version.
 */
import type { PeerMessage, Refusal } from "@quorate/raft";

export interface VersionRange {
  readonly min: number;
  readonly max: number;
}

/** What this release speaks with other members. Version 2 added the transfer of leadership, 3 snapshots. */
export const peerVersions: VersionRange = { min: 1, max: 3 };

/**
 * The first version that knows the message. To a member of an older one it is not sent: a transfer to it, or with its
 * vote, comes to nothing, and is over after an election timeout. One that needs a snapshot gets it once it is upgraded.
 */
export function versionOf(message: PeerMessage): number {
  switch (message.kind) {
    case "snapshotChunk":
    case "snapshotResponse":
      return 3;
    case "timeoutNow":
      return 2;
    case "voteRequest":
      return message.transfer ? 2 : 1;
    default:
      return 1;
  }
}

/** `1-3`, as it stands in a hello. */
export function formatVersions(range: VersionRange): string {
  return `${range.min}-${range.max}`;
}

const shape = /^([1-9][0-9]{0,5})-([1-9][0-9]{0,5})$/;

export function parseVersions(text: string | undefined): VersionRange | undefined {
  const match = shape.exec(text ?? "");
  if (match === null) return undefined;
  const range = { min: Number(match[1]), max: Number(match[2]) };
  return range.min <= range.max ? range : undefined;
}

export type Negotiated = { readonly kind: "agreed"; readonly version: number } | Refusal;

/** `theirs` is the field of the other side's hello. A refusal names both ranges. */
export function negotiate(own: VersionRange, theirs: string | undefined): Negotiated {
  const range = parseVersions(theirs);
  if (range !== undefined) {
    const version = Math.min(own.max, range.max);
    if (version >= Math.max(own.min, range.min)) return { kind: "agreed", version };
  }
  const shown = range === undefined ? "no version that can be read" : `versions ${formatVersions(range)}`;
  return {
    kind: "refuse",
    code: "VERSION",
    reason:
      `You show ${shown} of the protocol, and this node speaks versions ${formatVersions(own)}. ` +
      "Upgrade the older of the two; neighbouring releases understand each other.",
  };
}
