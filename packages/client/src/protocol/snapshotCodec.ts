/** Snapshots that clients take, as positional arrays: see requestCodec.ts and responseCodec.ts. */
import { maxIdChars, maxSnapshotPartBytes } from "./limits.ts";
import { membershipFromWire, membershipToWire } from "./membershipCodec.ts";
import type { SnapshotRequest, SnapshotResponse } from "./requests.ts";
import { copyOf, isBytes, isInteger, isText, isTuple } from "./wireFields.ts";

/** `fields` with what comes before: three fields of every request. */
export function snapshotRequestFromWire(
  kind: SnapshotRequest["kind"],
  fields: readonly unknown[],
): SnapshotRequest | undefined {
  if (kind === "takeSnapshot") return isTuple(fields, 3) ? { kind } : undefined;
  const [, , , snapshot, part] = fields;
  if (!isTuple(fields, 5) || !isText(snapshot, 2 * maxIdChars) || !isInteger(part, 0)) return undefined;
  return { kind, snapshot, part };
}

export function snapshotResponseFields(body: SnapshotResponse): unknown[] {
  if (body.kind === "snapshotPart") return [body.bytes];
  const { snapshot, index, term, revision, membership } = body;
  return [snapshot, index, term, revision, membershipToWire(membership)];
}

/** `fields` with what comes before: two fields of every response. */
export function snapshotResponseFromWire(
  kind: SnapshotResponse["kind"],
  fields: readonly unknown[],
): SnapshotResponse | undefined {
  if (kind === "snapshotPart") {
    const bytes = fields[2];
    return isTuple(fields, 3) && isBytes(bytes, maxSnapshotPartBytes)
      ? { kind, bytes: copyOf(bytes) }
      : undefined;
  }
  const [, , snapshot, index, term, revision] = fields;
  const membership = isTuple(fields, 7) ? membershipFromWire(fields[6]) : undefined;
  if (membership === undefined || !isText(snapshot, 2 * maxIdChars)) return undefined;
  if (!isInteger(index, 0) || !isInteger(term, 0) || !isInteger(revision, 0)) return undefined;
  return { kind, snapshot, index, term, revision, membership };
}
