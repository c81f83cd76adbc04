/** A file that takes no write of a leader that another has replaced, whatever it believes by then. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, StaleTermError } from "quorate";
import { FencedResource, fileTermStore } from "quorate/fencing";

const folder = await mkdtemp(join(tmpdir(), "quorate-example-"));
const file = join(folder, "report");
const report = await FencedResource.open({ resource: "report", store: fileTermStore(join(folder, "term")) });
const cluster = connect({ endpoints: ["ws://127.0.0.1:7101", "ws://127.0.0.1:7102", "ws://127.0.0.1:7103"] });

const first = await cluster.lease.acquire("report");
await report.run(first.term, () => writeFile(file, "by the first leader"));
await first.release();

const second = await cluster.lease.acquire("report");
await report.run(second.term, () => writeFile(file, "by the second leader"));
await second.release();

try {
  await report.run(first.term, () => writeFile(file, "late, by the first leader"));
} catch (error) {
  if (!(error instanceof StaleTermError)) throw error;
  console.log(error.message);
}
console.log(await readFile(file, "utf8"));
await cluster.close();
await rm(folder, { recursive: true });
