/** The built simulator goes the same way wherever it runs; test/nightly/nodeVersions.test.ts tries other Node.js. */
import { describe, expect, it } from "vitest";
import { traceHashes } from "./rig/traceHash.ts";

describe("a seed of the simulator", () => {
  it("leaves the same trace in another process, in a worker thread, and with another young generation", async () => {
    const hashes = await traceHashes({ seed: 7 });
    expect(hashes).toMatch(/^[0-9a-f]{8,} [0-9a-f]{8,}$/);
    expect(await traceHashes({ seed: 7 }), "again").toBe(hashes);
    expect(await traceHashes({ seed: 7, inWorker: true }), "in a worker").toBe(hashes);
    expect(await traceHashes({ seed: 7, nodeOptions: ["--max-semi-space-size=1"] }), "1 MiB").toBe(hashes);
    expect(await traceHashes({ seed: 7, nodeOptions: ["--max-semi-space-size=64"] }), "64 MiB").toBe(hashes);
    expect(await traceHashes({ seed: 8 }), "another seed").not.toBe(hashes);
  });
});
