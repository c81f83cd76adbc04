/**
 * A node of bench:snapshots, in a process of its own that is started as the command's nodes are: tells its parent of
 * its event loop and of its snapshots.
 */
import { join } from "quorate";
import { collectOnOwnThread } from "quorate/internal";
import { LoopPauses } from "./loopPauses.ts";

collectOnOwnThread();

const [id = "", dataDir = "", peersOrVia = ""] = process.argv.slice(2);
const given = JSON.parse(peersOrVia) as { peers?: Record<string, string>; via?: string[]; listen: string };

const tell = (report: Record<string, unknown>): void => {
  process.send?.({ atMs: performance.timeOrigin + performance.now(), ...report });
};
const ignore = (): void => {};

const node = await join({
  id,
  dataDir,
  ...given,
  logger: {
    debug: (fields) => {
      if (typeof fields.kind === "string") tell(fields);
    },
    info: ignore,
    warn: (fields, message) => tell({ kind: "warning", message, ...fields }),
    error: (fields, message) => tell({ kind: "error", message, ...fields }),
  },
});
const pauses = new LoopPauses();
setInterval(() => {
  const { role, appliedIndex, commitIndex, snapshot } = node.node.status();
  const rss = process.memoryUsage.rss();
  const snapshotBytes = snapshot?.bytes;
  tell({ kind: "state", role, appliedIndex, commitIndex, ...pauses.take(), rss, snapshotBytes });
}, 100);
process.on("disconnect", () => process.exit(0));
