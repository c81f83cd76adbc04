/** Options that are not taken: by join(), and by what only a running cluster gives. */
import { clientOptions } from "@quorate/client/internal";
import { join } from "@quorate/kv";
import { describe, expect, it } from "vitest";

type Loose = Record<string, (...given: readonly unknown[]) => Promise<unknown>>;

const refused = (sentence: string) => ({
  code: "INVALID_OPTIONS",
  message: expect.stringContaining(sentence),
});
const strange = { strangeOption: 5 };

describe("join", () => {
  it.each([
    [{ endpoints: [] }, "endpoints is no option of join(): it is given to connect()."],
    [{ ttlMs: 5 }, "ttlMs is no option of join(): here it is called sessionTtlMs."],
    [{ datadir: "x" }, "datadir is no option of join(): it takes dataDir."],
    [{ snapshots: { every: 5 } }, "every is no option of snapshots of join(): it takes everyEntries, "],
    [
      { electionTimeoutMs: { min: 1_500, maximum: 3_000 } },
      "maximum is no option of electionTimeoutMs of join(): it takes min, max.",
    ],
    [
      { tls: { certificate: "x" }, listen: "ws://127.0.0.1:0" },
      "certificate is no option of tls: it takes cert, key, ca, requireClientCertificate.",
    ],
  ])("does not take %j", async (options, sentence) => {
    await expect(join({ id: "a", ...options } as never)).rejects.toMatchObject(refused(sentence));
  });
});

describe("what a running cluster gives", () => {
  it("refuses options that its calls do not take, and goes on", async () => {
    await using cluster = await join({ id: "a" });
    await using lease = await cluster.lease.acquire("x");
    const watch = cluster.kv.watch("k");
    const called: Readonly<Record<string, readonly unknown[]>> = {
      "txn.commit": [],
      "watch.started": [],
      "lease.proclaim": [1],
      "lease.checkpoint": [1],
      "lease.lastCheckpoint": [],
      "lease.renew": [],
      "lease.ensure": [1],
      "lease.release": [],
    };
    expect(Object.keys(clientOptions).filter((call) => /^(lease|txn|watch)\./.test(call))).toEqual(
      Object.keys(called),
    );
    const objects = { lease, watch, txn: cluster.kv.txn() } as unknown as Record<string, Loose>;
    for (const [call, before] of Object.entries(called)) {
      const [subject = "", method = ""] = call.split(".");
      await expect(objects[subject]?.[method]?.(...before, strange)).rejects.toMatchObject(
        refused(`strangeOption is no option of ${call}(): it takes `),
      );
    }
    lease.check();
    await watch.return();
    const handedOver = cluster.node.transferLeadership(strange as never);
    await expect(handedOver).rejects.toMatchObject(
      refused("no option of node.transferLeadership(): it takes "),
    );
    const lock = (): unknown => (cluster.lock as (...given: unknown[]) => unknown)("x", strange);
    expect(lock).toThrow("strangeOption is no option of cluster.lock(): it takes none.");
  });
});
