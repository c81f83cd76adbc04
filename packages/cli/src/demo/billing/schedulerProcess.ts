/**
 * The process of one scheduler: waits for midnight, bills if it may, says what happens to it. Ends when the process
 * that started it is gone.
 */
import { QuorateError } from "@quorate/raft";
import { underLease } from "./leadership.ts";
import { midnight, type SchedulerMessage, type SchedulerOrders } from "./month.ts";
import { bill, TermRefused } from "./scheduler.ts";

const orders = JSON.parse(process.argv[2] ?? "null") as SchedulerOrders;

function tell(message: SchedulerMessage): void {
  process.send?.(message);
}

async function run(): Promise<void> {
  const alone = { term: undefined, check: () => {}, lastFinished: async () => 0, finished: async () => {} };
  try {
    if (orders.coordination === "none") await bill(orders, alone, tell);
    else await underLease(orders, (leadership) => bill(orders, leadership, tell));
    tell({ kind: "finished" });
  } catch (error) {
    if (!(error instanceof TermRefused) && !(error instanceof QuorateError)) throw error;
    tell({ kind: "lost", message: error.message });
  }
}

process.once("disconnect", () => process.exit());
process.on("message", (message) => {
  if (message === midnight) void run();
});
tell({ kind: "ready" });
