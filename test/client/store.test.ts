/** The store as its users call it: values, conditions, pages, and arguments that are refused at once. */
import { ConflictError } from "@quorate/client";
import type { ClientCluster } from "@quorate/client/internal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { errorFrom, FakeCluster } from "./fakeCluster.ts";

let nodes: FakeCluster;
let cluster: ClientCluster;

beforeEach(async () => {
  nodes = await FakeCluster.start(1);
  cluster = nodes.connect();
});

afterEach(async () => {
  await cluster.close();
});

describe("values", () => {
  it("come back as what they were put as", async () => {
    const bytes = Uint8Array.of(0, 255, 128);
    const values = { bytes, text: "grüße \u{1f331}", json: { a: [1, null, "x\ud800"] } };
    for (const [key, value] of Object.entries(values)) await cluster.kv.put(key, value);
    expect(await cluster.kv.get("bytes")).toMatchObject({ format: "bytes", value: bytes, bytes });
    expect(await cluster.kv.get("text")).toMatchObject({ format: "text", value: values.text });
    expect(await cluster.kv.get("json")).toMatchObject({ format: "json", value: values.json });
  });

  it("are taken as they were when put was called", async () => {
    const bytes = Uint8Array.of(1);
    const put = cluster.kv.put("key", bytes);
    bytes[0] = 2;
    await put;
    expect((await cluster.kv.get("key"))?.value).toEqual(Uint8Array.of(1));
  });

  it("carry when they were created and written, and how often", async () => {
    const first = await cluster.kv.put("key", 1);
    const second = await cluster.kv.put("key", 2);
    expect(second.revision).toBe(first.revision + 1);
    expect(await cluster.kv.get("key")).toMatchObject({
      createRevision: first.revision,
      modRevision: second.revision,
      version: 2,
    });
  });
});

describe("deletes", () => {
  it("say whether there was anything", async () => {
    await cluster.kv.put("key", 1);
    expect(await cluster.kv.delete("key")).toEqual({ revision: 2, deleted: true });
    expect(await cluster.kv.delete("key")).toEqual({ revision: 2, deleted: false });
    expect(await cluster.kv.get("key")).toBeUndefined();
  });
});

describe("conditional writes", () => {
  it("tell the current revision when the condition does not hold", async () => {
    const { revision } = await cluster.kv.put("key", 1);
    await cluster.kv.put("key", 2, { ifRevision: revision });
    const error = await errorFrom(cluster.kv.put("key", 3, { ifRevision: revision }));
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ code: "CONFLICT", outcome: "none", currentRevision: revision + 1 });
    expect(error.message).toContain(`"key" is at revision ${revision + 1}`);
    expect((await cluster.kv.get("key"))?.value).toBe(2);
  });

  it("create only what is absent", async () => {
    await cluster.kv.put("key", 1, { ifAbsent: true });
    expect(await errorFrom(cluster.kv.put("key", 2, { ifAbsent: true }))).toMatchObject({ code: "CONFLICT" });
    expect(await errorFrom(cluster.kv.delete("gone", { ifRevision: 1 }))).toMatchObject({
      currentRevision: 0,
    });
  });

  it("refuse conditions that contradict each other", async () => {
    const both = { ifRevision: 4, ifAbsent: true };
    expect(await errorFrom(cluster.kv.put("key", 1, both))).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await errorFrom(cluster.kv.delete("key", { ifAbsent: true }))).toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(await errorFrom(cluster.kv.put("key", 1, { ifRevision: 0 }))).toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});

describe("lists", () => {
  beforeEach(async () => {
    for (const key of ["a/1", "a/2", "a/3", "a/4", "b/1"]) await cluster.kv.put(key, key);
  });

  it("give pages in byte order, forwards and backwards, until there is no cursor", async () => {
    for (const order of ["ascending", "descending"] as const) {
      const keys: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await cluster.kv.list(
          { prefix: "a/" },
          cursor === undefined ? { limit: 3, order } : { limit: 3, order, cursor },
        );
        keys.push(...page.entries.map((entry) => entry.key));
        cursor = page.cursor;
      } while (cursor !== undefined);
      const expected = ["a/1", "a/2", "a/3", "a/4"];
      expect(keys).toEqual(order === "ascending" ? expected : expected.reverse());
    }
  });

  it("take one key, a prefix, a range, and everything", async () => {
    const keysOf = async (set: Parameters<typeof cluster.kv.list>[0]): Promise<string[]> =>
      (await cluster.kv.list(set)).entries.map((entry) => entry.key);
    expect(await keysOf("a/2")).toEqual(["a/2"]);
    expect(await keysOf({ prefix: "b" })).toEqual(["b/1"]);
    expect(await keysOf({ from: "a/2", to: "a/4" })).toEqual(["a/2", "a/3"]);
    expect(await keysOf({ prefix: "" })).toHaveLength(5);
  });

  it("leave the values away where only keys are asked for", async () => {
    const { entries } = await cluster.kv.list({ prefix: "b" }, { keysOnly: true });
    expect(entries).toMatchObject([{ key: "b/1", value: undefined, bytes: new Uint8Array(0) }]);
  });

  it("refuse a cursor of another list", async () => {
    const { cursor } = await cluster.kv.list({ prefix: "a/" }, { limit: 1 });
    expect(cursor).toBeDefined();
    const wrong = [
      cluster.kv.list({ prefix: "b/" }, { cursor: cursor ?? "" }),
      cluster.kv.list({ prefix: "a/" }, { cursor: cursor ?? "", order: "descending" }),
      cluster.kv.list({ prefix: "a/" }, { cursor: "no cursor" }),
    ];
    for (const list of wrong) expect(await errorFrom(list)).toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("what makes no sense", () => {
  it("is refused with a sentence before anything is sent", async () => {
    const { kv } = cluster;
    const listed = async (options: object): Promise<unknown> =>
      kv
        .txn()
        .then({ list: { prefix: "" }, ...options })
        .commit();
    const calls: [Promise<unknown>, string, RegExp][] = [
      [kv.put("", 1), "INVALID_ARGUMENT", /key is empty/],
      [kv.put("k\ud800", 1), "INVALID_ARGUMENT", /lone surrogate/],
      [kv.put("k".repeat(4_097), 1), "TOO_LARGE", /4097 bytes; at most 4096/],
      [kv.put("k", new Uint8Array(1_048_577)), "TOO_LARGE", /1048577 bytes; at most 1048576/],
      [kv.put("k", "\ud800"), "INVALID_ARGUMENT", /lone surrogate/],
      [kv.put("k", undefined as never), "INVALID_ARGUMENT", /undefined/],
      [kv.put("k", 1n as never), "INVALID_ARGUMENT", /BigInt/],
      [kv.get(5 as never), "INVALID_ARGUMENT", /number/],
      [kv.list({ prefix: "" }, { order: "desc" as never }), "INVALID_ARGUMENT", /not "desc"/],
      [kv.list({ prefix: "" }, { keysOnly: "no" as never }), "INVALID_ARGUMENT", /keysOnly is true or false/],
      [listed({ order: "desc" as never }), "INVALID_ARGUMENT", /not "desc"/],
      [listed({ keysOnly: 1 as never }), "INVALID_ARGUMENT", /keysOnly is true or false/],
      [kv.get("k", { consistency: "eventual" as never }), "INVALID_ARGUMENT", /eventual/],
      [kv.get("k", { timeoutMs: 0 }), "INVALID_ARGUMENT", /timeoutMs is 0/],
      [kv.list({ prefix: "a" }, { limit: 10_001 }), "INVALID_ARGUMENT", /limit is 10001/],
      [kv.list({ from: "b", to: "a" }), "INVALID_ARGUMENT", /after its `to`/],
      [kv.list({ prefix: "a", from: "b" } as never), "INVALID_ARGUMENT", /set of keys/],
      [kv.list({ prefix: "a" }, { order: "random" as never }), "INVALID_ARGUMENT", /random/],
    ];
    for (const [call, code, sentence] of calls) {
      const error = await errorFrom(call);
      expect(error).toMatchObject({ code, outcome: "none", retryable: false });
      expect(error.message).toMatch(sentence);
    }
    expect(nodes.node("a").asked).toEqual([]);
  });
});
