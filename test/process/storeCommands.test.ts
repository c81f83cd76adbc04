/** `quorate watch`, `txn`, `limits` and reads of the past, against a real cluster whose nodes are killed meanwhile. */
import { execFile, spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { quorateCommand } from "./rig/nodeProcess.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { until } from "./rig/waiting.ts";

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function quorate(cluster: RealCluster, words: readonly string[], input = ""): Promise<Result> {
  const env = { ...process.env, QUORATE_ENDPOINTS: cluster.endpoints.join(",") };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [quorateCommand, ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    child.stdin?.end(input);
  });
}

interface Watching extends AsyncDisposable {
  lines(): readonly string[];
}

function watch(cluster: RealCluster, ...words: readonly string[]): Watching {
  const env = { ...process.env, QUORATE_ENDPOINTS: cluster.endpoints.join(",") };
  const child = spawn(process.execPath, [quorateCommand, "watch", ...words], { env });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  return {
    lines: () => output.split("\n").slice(0, -1),
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

describe("the store's commands", () => {
  it("watch over the death of each node in turn, with every change once and in order", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const client = await cluster.client();
    await client.kv.put("jobs/0", 0);
    await using watching = watch(cluster, "--prefix", "jobs/", "--from", "1", "--json");
    const expected: unknown[] = [0];
    for (const node of cluster.nodes) {
      await until(
        `the watch has told ${expected.length}`,
        async () => watching.lines().length >= expected.length,
      );
      await node.kill();
      for (let n = 0; n < 20; n += 1) {
        await client.kv.put(`jobs/${n % 3}`, expected.length);
        expected.push(expected.length);
      }
      node.start();
      await cluster.healthy();
    }
    await until("the watch has told everything", async () => watching.lines().length >= expected.length);
    const events = watching.lines().map((line) => JSON.parse(line) as { value: unknown; revision: number });
    expect(events.map(({ value }) => value)).toEqual(expected);
    const revisions = events.map(({ revision }) => revision);
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
  });

  it("run a transaction, read the past, and say what was cut away", async () => {
    await using cluster = await RealCluster.start({ size: 1 });
    await using watching = watch(cluster, "lock", "--from", "1");
    const description =
      '{"if": [{"key": "lock", "version": 0}], "then": [{"put": "lock", "value": "me"}, ' +
      '{"put": "config", "value": {"a": 1}}], "else": [{"get": "lock"}, {"list": {"prefix": "c"}}]}';
    expect(await quorate(cluster, ["txn", "-"], description)).toMatchObject({ code: 0, stdout: "then\t1\n" });
    const again = await quorate(cluster, ["txn", "-"], description);
    expect(again).toMatchObject({ code: 4, stdout: 'else\t1\nlock\tme\nconfig\t{"a":1}\n' });
    expect(await quorate(cluster, ["txn", "-"], '{"when": []}')).toMatchObject({ code: 2 });
    await quorate(cluster, ["put", "lock", "you"]);
    expect(await quorate(cluster, ["get", "lock", "--revision", "1"])).toMatchObject({
      code: 0,
      stdout: "me",
    });
    const page = await quorate(cluster, ["list", "--revision", "1", "--json"]);
    expect(JSON.parse(page.stdout)).toMatchObject({
      revision: 1,
      entries: [{ key: "config" }, { value: "me" }],
    });
    await until("the watch has told both", async () => watching.lines().length >= 2);
    expect(watching.lines()).toEqual(["1\tput\tlock\tme", "2\tput\tlock\tyou"]);
    const limited = await quorate(cluster, ["limits", "--history-revisions", "1", "--json"]);
    expect(JSON.parse(limited.stdout)).toMatchObject({ historyRevisions: 1 });
    const late = await quorate(cluster, ["watch", "lock", "--from", "1"]);
    expect(late.code).toBe(1);
    expect(late.stderr).toContain("before revision 1 has been cut away");
  });

  it("say within their time that no node takes a watch", async () => {
    await using cluster = await RealCluster.prepare({ size: 1 });
    const result = await quorate(cluster, ["watch", "k", "--timeout", "500ms", "--json"]);
    expect(result.code).toBe(3);
    expect(JSON.parse(result.stderr)).toMatchObject({ error: { code: "TIMED_OUT", outcome: "none" } });
  });
});
