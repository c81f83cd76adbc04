/** What the commands print: for programs exactly these fields, for people one thing a line. */
import type { ClusterStatus, KeyValue } from "@quorate/client";
import {
  nodeTable,
  pageAsJson,
  pairAsJson,
  pairAsLine,
  statusAsJson,
  statusLines,
  textTable,
  valueFrom,
} from "quorate/internal";
import { describe, expect, it } from "vitest";

function pairOf(key: string, value: unknown, format: KeyValue["format"], bytes: Uint8Array): KeyValue {
  const keyBytes = Buffer.from(key);
  return {
    key,
    keyBytes,
    value,
    format,
    bytes,
    createRevision: 3,
    modRevision: 7,
    version: 2,
    session: null,
  };
}

const text = pairOf("greeting", "hello", "text", Buffer.from("hello"));
const json = pairOf("job", { state: "new" }, "json", Buffer.from('{"state":"new"}'));
const raw = pairOf("raw", Buffer.from([0xff, 0]), "bytes", Buffer.from([0xff, 0]));

describe("a pair", () => {
  it("is JSON with its revisions; bytes are base64", () => {
    const facts = { createRevision: 3, modRevision: 7, version: 2 };
    expect(pairAsJson(text)).toEqual({ key: "greeting", value: "hello", format: "text", ...facts });
    expect(pairAsJson(json)).toEqual({ key: "job", value: { state: "new" }, format: "json", ...facts });
    expect(pairAsJson(raw)).toEqual({ key: "raw", value: "/wA=", format: "bytes", ...facts });
  });

  it("is one line, whatever is in it", () => {
    expect(pairAsLine(text, false)).toBe("greeting\thello");
    expect(pairAsLine(json, false)).toBe('job\t{"state":"new"}');
    expect(pairAsLine(raw, false)).toBe("raw\t\u00ff\\u0000");
    expect(pairAsLine(text, true)).toBe("greeting");
    const lines = pairOf("a\tb", "1\n2\u009b", "text", Buffer.from("1\n2\u009b"));
    expect(pairAsLine(lines, false)).toBe("a\\tb\t1\\n2\\u009b");
  });

  it("of a page comes with cursor and revision, and without values where only keys were asked for", () => {
    expect(pageAsJson({ entries: [text], cursor: undefined, revision: 9 }, true)).toEqual({
      entries: [{ key: "greeting", createRevision: 3, modRevision: 7, version: 2 }],
      cursor: null,
      revision: 9,
    });
  });
});

describe("a value from standard input", () => {
  it("is text where it is UTF-8, byte order mark and all, and else bytes", () => {
    expect(valueFrom(Buffer.from("häl\n"))).toBe("häl\n");
    expect(valueFrom(Buffer.from("\ufeffx"))).toBe("\ufeffx");
    expect(valueFrom(new Uint8Array())).toBe("");
    const bytes = Buffer.from([0xc3, 0x28]);
    expect(valueFrom(bytes)).toBe(bytes);
  });
});

const status: ClusterStatus = {
  clusterId: "c1",
  leader: "a",
  term: 4,
  revision: 12,
  nodes: [
    {
      id: "a",
      pid: 10,
      clusterId: "c1",
      role: "leader",
      term: 4,
      commitIndex: 15,
      appliedIndex: 15,
      endpoint: "ws://127.0.0.1:7101",
      complaints: [],
    },
    {
      id: "b",
      pid: null,
      clusterId: null,
      role: "unreachable",
      term: null,
      commitIndex: null,
      appliedIndex: null,
      endpoint: "ws://127.0.0.1:7102",
      complaints: ["It does not answer."],
    },
  ],
};

describe("status", () => {
  it("is exactly the documented object", () => {
    const [a, b] = status.nodes.map(({ complaints: _, clusterId: __, ...fields }) => fields);
    expect(statusAsJson(status)).toEqual({
      clusterId: "c1",
      leader: "a",
      term: 4,
      revision: 12,
      nodes: [a, b],
    });
    const keys = ["id", "pid", "role", "term", "commitIndex", "appliedIndex", "endpoint"];
    expect(Object.keys((statusAsJson(status) as ClusterStatus).nodes[0] ?? {})).toEqual(keys);
  });

  it("is a table for people, with what keeps a node out below", () => {
    expect(statusLines(status)).toEqual([
      "cluster c1, leader a, term 4, revision 12",
      "",
      "NODE  ROLE         TERM  COMMIT  APPLIED  PID  ENDPOINT",
      "a     leader       4     15      15       10   ws://127.0.0.1:7101",
      "b     unreachable  -     -       -        -    ws://127.0.0.1:7102",
      "",
      "b: It does not answer.",
    ]);
  });
});

describe("a table", () => {
  it("is never wider than it may be", () => {
    const lines = textTable(["NAME", "VALUE"], [["a", "0123456789"]], 10);
    expect(lines).toEqual(["NAME  VALU", "a     0123"]);
    const view = {
      id: "a",
      pid: 1,
      endpoint: "ws://127.0.0.1:7101",
      role: "leader",
      term: 1,
      commitIndex: 2,
      appliedIndex: 2,
      lag: 0,
    } as const;
    for (const line of nodeTable([view], 20)) expect(line.length).toBeLessThan(20);
  });
});
