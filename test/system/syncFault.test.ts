/** The disk answers a sync with an error: strace makes the system call fail, so that nothing in the node is faked. */
import { describe, expect, it } from "vitest";
import { tally } from "../process/rig/history.ts";
import { Load } from "../process/rig/load.ts";
import { RealCluster } from "../process/rig/realCluster.ts";
import { expectKept } from "../process/rig/verification.ts";
import { whatIsMissing } from "./requirements.ts";

/** From its `nth` sync on, each fails. The tracer is no parent: the node keeps its process id and exit code. */
function syncsFailFrom(nth: number): (commandLine: readonly string[]) => readonly string[] {
  const inject = `inject=fsync,fdatasync:error=EIO:when=${nth}+`;
  const strace = [
    "strace",
    "-D",
    "-f",
    "-qq",
    "-o",
    "/dev/null",
    "-e",
    "trace=fsync,fdatasync",
    "-e",
    inject,
  ];
  return (commandLine) => [...strace, ...commandLine];
}

describe("a sync that fails", () => {
  it("stops the node with code 70, acknowledges nothing of it, and is over after a start", async ({
    skip,
  }) => {
    const missing = whatIsMissing(["strace"], false);
    if (missing !== undefined) skip(missing);
    await using cluster = await RealCluster.prepare({ size: 3 });
    const [victim, ...others] = cluster.nodes;
    if (victim === undefined) throw new Error("There are three nodes");
    for (const node of others) node.start();
    // strace counts per thread: with one thread the nth sync is the nth sync.
    victim.start({ wrap: syncsFailFrom(150), environment: { UV_THREADPOOL_SIZE: "1" } });
    await cluster.healthy();
    const load = new Load({ clients: [await cluster.client()], prefix: "eio/", perSecond: 200 });
    expect(await victim.ended(60_000)).toEqual({ code: 70, signal: null });
    expect(victim.log).toMatch(/STORAGE_FAILED/);
    await load.progress(50);
    victim.start();
    await cluster.healthy();
    await load.progress(50);
    const records = await load.stop();
    console.log(`EIO at a sync: ${JSON.stringify(tally(records))}`);
    await expectKept(cluster, records, "eio/");
  });
});
