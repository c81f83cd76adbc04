/**
 * The snapshot files of one start of a process, over a simulated directory. Everything takes virtual time; after its
 * process died nothing is answered.
 *
 * Want of room is an answer here, and not the end of the log: who writes a snapshot gives it up and tries again.
 */
import type { SnapshotFiles } from "@quorate/raft";
import type { SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";
import type { SimulatedFolder } from "./folder.ts";

export interface FileBehaviour {
  delayMs(): number;
  readMs(): number;
  /** How this write fails, if it does. */
  failure(): Error | undefined;
}

export function simulatedSnapshotFiles(
  timeline: Timeline,
  process: SimulatedProcess,
  folder: SimulatedFolder,
  behaviour: FileBehaviour,
): SnapshotFiles {
  let closed = false;
  const after = <T>(delayMs: number, run: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      process.interacts();
      timeline.schedule(delayMs, process, () => {
        try {
          if (closed) throw new Error("the snapshot files are closed");
          resolve(run());
        } catch (error) {
          reject(error);
        }
      });
    });
  const writing = (run: () => void): Promise<void> =>
    after(behaviour.delayMs(), () => {
      const failure = behaviour.failure();
      if (failure !== undefined) throw failure;
      run();
    });
  const reading = <T>(run: () => T): Promise<T> => after(behaviour.readMs(), run);
  return {
    list: () => after(0, () => folder.list()),
    create: (name) => writing(() => folder.create(name)),
    append(name, bytes) {
      // A copy: a caller that writes to its buffer afterwards must not reach the disk.
      const copy = new Uint8Array(bytes);
      return writing(() => folder.append(name, copy));
    },
    sync: (name) => writing(() => folder.sync(name)),
    rename: (from, to) => writing(() => folder.rename(from, to)),
    remove: (name) => writing(() => folder.remove(name)),
    syncNames: () => writing(() => folder.syncNames()),
    read: (name, offset, maxBytes) => reading(() => folder.read(name, offset, maxBytes)),
    close: () =>
      after(0, () => {
        closed = true;
      }),
  };
}
