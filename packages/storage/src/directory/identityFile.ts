/**
 * `identity.json`: a directory's node id and incarnation, in words that a person can read.
 *
 * It is looked at before anything else, so that a wrong directory or a newer format is refused untouched.
 * The witness holds the same and decides: a damaged or missing identity file is written again from it.
 */
import { type Identity, isIncarnation, isNodeId } from "@quorate/raft";
import { newerFormat } from "../log/stateRecord.ts";
import { readIfPresent, writeDurably } from "./durableFiles.ts";

/** Of this file alone: the database's records have one of their own. */
const identityFormat = 1;

/** Undefined where it is missing or unreadable. Throws for a newer format. */
export async function readIdentity(path: string): Promise<Identity | undefined> {
  const content = await readIfPresent(path);
  if (content === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(content.toString("utf8"));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { format, nodeId, incarnation } = value as Readonly<Record<string, unknown>>;
  if (typeof format === "number" && format > identityFormat) throw newerFormat(format, identityFormat);
  if (typeof nodeId !== "string" || !isNodeId(nodeId)) return undefined;
  if (typeof incarnation !== "string" || !isIncarnation(incarnation)) return undefined;
  return { nodeId, incarnation };
}

export async function writeIdentity(path: string, { nodeId, incarnation }: Identity): Promise<void> {
  const text = JSON.stringify({ format: identityFormat, nodeId, incarnation }, undefined, 2);
  await writeDurably(path, Buffer.from(`${text}\n`));
}
