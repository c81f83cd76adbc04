/** A node of bench:snapshots, in a process of its own: tells its parent of its event loop and of its snapshots. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { join } from "quorate";

const [id = "", dataDir = "", peersOrVia = ""] = process.argv.slice(2);
const given = JSON.parse(peersOrVia) as { peers?: Record<string, string>; via?: string[]; listen: string };

/** Resolution of the loop's delay: what is told is that much too high. */
const resolutionMs = 2;

const tell = (report: Record<string, unknown>): void => {
  process.send?.({ atMs: performance.timeOrigin + performance.now(), ...report });
};
const ignore = (): void => {};

const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();
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
setInterval(() => {
  const { role, appliedIndex, commitIndex, snapshot } = node.node.status();
  const delayMs = delay.max / 1e6 - resolutionMs;
  delay.reset();
  const rss = process.memoryUsage.rss();
  tell({ kind: "state", role, appliedIndex, commitIndex, delayMs, rss, snapshotBytes: snapshot?.bytes });
}, 100);
process.on("disconnect", () => process.exit(0));
