/** Snapshot files whose every change is remembered, so that a test can put together what a crash would have left. */
import type { SnapshotFiles } from "@quorate/raft";
import type { SnapshotContents } from "@quorate/storage/internal";

export type FileChange =
  | { readonly kind: "create" | "sync" | "remove"; readonly name: string }
  | { readonly kind: "append"; readonly name: string; readonly bytes: Uint8Array }
  | { readonly kind: "rename"; readonly name: string; readonly to: string }
  | { readonly kind: "syncNames" };

export function recordFiles(files: SnapshotFiles, record: (change: FileChange) => void): SnapshotFiles {
  return {
    list: () => files.list(),
    read: (name, offset, maxBytes) => files.read(name, offset, maxBytes),
    close: () => files.close(),
    create: async (name) => {
      record({ kind: "create", name });
      await files.create(name);
    },
    append: async (name, bytes) => {
      record({ kind: "append", name, bytes: Uint8Array.from(bytes) });
      await files.append(name, bytes);
    },
    sync: async (name) => {
      record({ kind: "sync", name });
      await files.sync(name);
    },
    rename: async (from, to) => {
      record({ kind: "rename", name: from, to });
      await files.rename(from, to);
    },
    remove: async (name) => {
      record({ kind: "remove", name });
      await files.remove(name);
    },
    syncNames: async () => {
      record({ kind: "syncNames" });
      await files.syncNames();
    },
  };
}

interface Content {
  bytes: Uint8Array;
  synced: Uint8Array;
}

/** `keeps`: whether a crash left what was not synced, or lost it. */
export function filesAfter(
  before: SnapshotContents,
  changes: readonly FileChange[],
  keeps: "unsynced" | "synced",
): SnapshotContents {
  let names = new Map([...before].map(([name, bytes]) => [name, { bytes, synced: bytes } as Content]));
  let synced = new Map(names);
  for (const change of changes) {
    if (change.kind === "syncNames") {
      synced = new Map(names);
      continue;
    }
    const content = names.get(change.name);
    if (change.kind === "create")
      names.set(change.name, { bytes: new Uint8Array(0), synced: new Uint8Array(0) });
    else if (change.kind === "remove") names.delete(change.name);
    else if (content === undefined) throw new Error(`no file ${change.name}`);
    else if (change.kind === "append") content.bytes = Buffer.concat([content.bytes, change.bytes]);
    else if (change.kind === "sync") content.synced = content.bytes;
    else if (change.kind === "rename") {
      names.delete(change.name);
      names.set(change.to, content);
    }
  }
  if (keeps === "synced") names = synced;
  return new Map(
    [...names].map(([name, { bytes, synced: kept }]) => [name, keeps === "synced" ? kept : bytes]),
  );
}
