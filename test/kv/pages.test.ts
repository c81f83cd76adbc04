/** The pages of a node, asked for over HTTP at its real port, and the text of metrics. */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join as pathOf } from "node:path";
import { metricsText } from "@quorate/client/internal";
import { join, type NodeCluster } from "@quorate/kv";
import { NodePages } from "@quorate/kv/internal";
import { systemClock } from "@quorate/raft";
import { afterEach, describe, expect, it } from "vitest";
import { watchPage } from "../../packages/kv/src/pages/watchPage.ts";
import { freePortBlock } from "../process/rig/ports.ts";

const ended: NodeCluster[] = [];

afterEach(async () => {
  await Promise.all(ended.splice(0).map((cluster) => cluster.close()));
});

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

function get(cluster: NodeCluster, path: string, headers = {}, method = "GET"): Promise<Answer> {
  const url = new URL(path, cluster.node.address.replace("ws:", "http:"));
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        body += part;
      });
      response.once("end", () => {
        resolve({ status: response.statusCode ?? 0, type: response.headers["content-type"] ?? "", body });
      });
    });
    asked.once("error", reject).end();
  });
}

async function alone(secret?: string): Promise<NodeCluster> {
  const cluster = await join({ id: "a", listen: "ws://127.0.0.1:0", secret });
  ended.push(cluster);
  await cluster.kv.put("key", "value");
  return cluster;
}

describe("a node's port", () => {
  it("says that the node lives and serves", async () => {
    const cluster = await alone();
    expect(await get(cluster, "/healthz")).toMatchObject({ status: 200, body: "ok\n" });
    expect(await get(cluster, "/readyz?verbose")).toMatchObject({ status: 200, body: "ok\n" });
    expect(await get(cluster, "/other")).toMatchObject({ status: 404 });
    expect(await get(cluster, "/healthz", {}, "POST")).toMatchObject({ status: 405 });
    expect(await get(cluster, "/healthz", {}, "HEAD")).toMatchObject({ status: 200, body: "" });
  });

  it("says that a node without its peers lives and does not serve yet", async () => {
    const port = await freePortBlock(2);
    const peers = { a: `ws://127.0.0.1:${port}`, b: `ws://127.0.0.1:${port + 1}` };
    const cluster = await join({ id: "a", memory: true, peers });
    ended.push(cluster);
    expect(await get(cluster, "/healthz")).toMatchObject({ status: 200 });
    expect(await get(cluster, "/readyz")).toMatchObject({
      status: 503,
      body: expect.stringMatching(/not belong to a cluster/),
    });
  });

  it("gives metrics that Prometheus can read", async () => {
    const cluster = await alone();
    const { status, type, body } = await get(cluster, "/metrics");
    expect([status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    expect(body).toMatch(/^quorate_store_keys 1$/m);
    expect(body).toMatch(/^quorate_raft_role\{role="leader"\} 1$/m);
    expect(body).toMatch(/^quorate_raft_has_leader 1$/m);
    expect(body).toMatch(/^quorate_client_requests_answered_total\{kind="write"\} [1-9]/m);
    expect(body).toMatch(/^quorate_client_session_remaining_seconds\{session="\d+"\} 1[0-5]\./m);
    const names = new Set<string>();
    for (const line of body.trimEnd().split("\n")) {
      const match =
        /^(?:# (?:HELP|TYPE) (\w+) .+|(\w+)(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? [-+.e\d]+)$/.exec(line);
      expect(match, line).not.toBeNull();
      if (match?.[1] !== undefined) names.add(match[1]);
      else expect(names).toContain(match?.[2]?.replace(/(?<=_seconds)_(?:bucket|sum|count)$/, ""));
    }
  });

  it("gives the metrics that their page tells, and no others", async () => {
    const page = readFileSync(pathOf(import.meta.dirname, "../../docs/reference/metrics.md"), "utf8");
    const told = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| [^|]*\| (.+) \|$/gm)].map(
      ([, name, kind, help]) => `# HELP ${name} ${help}\n# TYPE ${name} ${kind}`,
    );
    const { body } = await get(await alone(), "/metrics");
    expect(told).toEqual(body.match(/^# HELP .*\n# TYPE .*$/gm));
    // Those with a value for each of something say so, as far as there is something.
    const labelled = [...body.matchAll(/^(\w+?)(?:_bucket|_sum|_count)?\{(\w+)=/gm)];
    expect(labelled.length).toBeGreaterThan(10);
    for (const [, name, label] of labelled) {
      expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\| \\w+ \\| [^|]*\`${label}\``, "m"));
    }
  });

  it("shows metrics only to who knows the secret, and health to everybody", async () => {
    const secret = "correct horse battery staple";
    const cluster = await alone(secret);
    expect(await get(cluster, "/metrics")).toMatchObject({ status: 401 });
    expect(await get(cluster, "/metrics", { authorization: "Bearer wrong" })).toMatchObject({ status: 401 });
    expect(await get(cluster, "/metrics", { authorization: `Bearer ${secret}` })).toMatchObject({
      status: 200,
    });
    expect(await get(cluster, "/healthz")).toMatchObject({ status: 200 });
  });
});

describe("the watch over HTTP", () => {
  async function ask(cluster: NodeCluster, query: string): Promise<Record<string, unknown>> {
    const { status, body } = await get(cluster, `/v1/watch?${query}`);
    return { status, ...JSON.parse(body) };
  }

  it("says where a watch begins, and then gives each change once, in order", async () => {
    const cluster = await alone();
    const { next } = await ask(cluster, "prefix=jobs/");
    const waited = ask(cluster, `prefix=jobs/&from=${next}`);
    const first = await cluster.kv.put("jobs/1", { n: 1 });
    await cluster.kv.put("other", "x");
    expect(await waited).toMatchObject({
      status: 200,
      events: [
        { kind: "put", key: "jobs/1", revision: first.revision, value: { n: 1 }, format: "json", version: 1 },
      ],
      next: first.revision + 1,
    });
    await cluster.kv.put("jobs/2", Uint8Array.of(1, 2));
    const { revision } = await cluster.kv.delete("jobs/1");
    const kinds: unknown[] = [];
    for (let from = first.revision + 1; from <= revision; ) {
      const page = await ask(cluster, `prefix=jobs/&from=${from}`);
      for (const event of page.events as { kind: string; key: string }[])
        kinds.push(`${event.kind} ${event.key}`);
      from = page.next as number;
    }
    expect(kinds).toEqual(["put jobs/2", "delete jobs/1"]);
  });

  it("ends a page where its values take much, however fast they come", async () => {
    const bytes = new Uint8Array(500_000);
    let revision = 0;
    const next = async () => {
      revision += 1;
      const entry = { value: "v".repeat(bytes.length), format: "text", bytes, createRevision: 1, version: 1 };
      return { value: { kind: "put", key: "k", revision, last: revision % 2 === 0, entry } };
    };
    const kv = { watch: () => ({ next, return: async () => {} }) };
    const query = new URLSearchParams("key=k&from=1");
    const { signal } = new AbortController();
    const asked = { path: "/v1/watch", query, isTrusted: true, signal };
    const page = await watchPage({ kv, clock: systemClock() } as never, asked);
    // Revisions are whole: of the second one both.
    expect(JSON.parse(String(page.body))).toMatchObject({ events: { length: 4 }, next: 5 });
  });

  it("answers with nothing when nothing has changed in time", async () => {
    const cluster = await alone();
    const { next } = await ask(cluster, "key=quiet");
    expect(await ask(cluster, `key=quiet&from=${next}&timeoutMs=50`)).toMatchObject({
      status: 200,
      events: [],
    });
  });

  it("refuses what makes no sense, and what was cut away", async () => {
    const cluster = await alone();
    expect(await ask(cluster, "")).toMatchObject({ status: 400, error: { code: "INVALID_ARGUMENT" } });
    expect(await ask(cluster, "key=a&from=x")).toMatchObject({ status: 400 });
    await cluster.kv.limit({ historyRevisions: 1 });
    for (let n = 0; n < 5; n += 1) await cluster.kv.put("key", n);
    expect(await ask(cluster, "key=key&from=1")).toMatchObject({ status: 410, error: { code: "COMPACTED" } });
  });

  it("asks for the secret", async () => {
    expect(await get(await alone("correct horse battery staple"), "/v1/watch?key=a")).toMatchObject({
      status: 401,
    });
  });
});

it("before the node runs, its pages say that it starts", () => {
  const asked = { query: new URLSearchParams(), isTrusted: true, signal: new AbortController().signal };
  const pages = new NodePages();
  for (const path of ["/healthz", "/readyz", "/metrics", "/v1/watch"]) {
    expect(pages.answer({ ...asked, path })).toMatchObject({ status: 503, body: "This node is starting.\n" });
  }
});

it("labels may hold anything", () => {
  const samples = [{ labels: { name: 'a "b"\\\nc' }, value: 1.5 }];
  expect(metricsText([{ name: "x", kind: "gauge", help: "An x", samples }])).toBe(
    '# HELP quorate_x An x\n# TYPE quorate_x gauge\nquorate_x{name="a \\"b\\"\\\\\\nc"} 1.5\n',
  );
});
