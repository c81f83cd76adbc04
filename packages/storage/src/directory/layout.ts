/**
 * What lies in a data directory, and in which order it is made.
 *
 *   identity.json   who it is, for people and for a first check; the witness repeats it
 *   witness         two slots: what was promised last
 *   log/            LevelDB
 *   snapshots/      the last two snapshots, once there is one
 *   lock            the process that has it open, for the message only: LevelDB's own lock decides
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "./durableFiles.ts";

export interface Layout {
  readonly directory: string;
  readonly identity: string;
  readonly witness: string;
  readonly log: string;
  readonly snapshots: string;
  readonly lock: string;
}

export function layoutOf(directory: string): Layout {
  return {
    directory,
    identity: join(directory, "identity.json"),
    witness: join(directory, "witness"),
    log: join(directory, "log"),
    snapshots: join(directory, "snapshots"),
    lock: join(directory, "lock"),
  };
}

/** Empty where there is no such directory. */
export async function filesIn(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
