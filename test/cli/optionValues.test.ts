/** The values of options: each wrong one is refused with what was given and what would be right. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  clusterOptions,
  connectionOptions,
  durationOption,
  integerOption,
  localEndpoints,
  nodeSpecs,
  parseEndpoints,
  parsePeers,
  writeCondition,
} from "quorate/internal";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

describe("durations", () => {
  it.each([
    ["500ms", 500],
    ["5s", 5_000],
    ["1.5s", 1_500],
    ["1m", 60_000],
  ])("%s is %d ms", (timeout, ms) => {
    expect(durationOption({ timeout }, "timeout")).toBe(ms);
  });

  it.each(["5", "5h", "0ms", "-1s", "1e3ms", "61m", ""])("%j is refused", (timeout) => {
    expect(() => durationOption({ timeout }, "timeout")).toThrow(/--timeout must be a time .*5s/);
  });
});

describe("integers", () => {
  it.each(["0", "11", "1.5", "-1", "x", "1e1", "99999999999999999999"])(
    "%j is refused with the bounds",
    (limit) => {
      expect(() => integerOption({ limit }, "limit", { from: 1, to: 10 })).toThrow(
        `--limit must be an integer from 1 to 10, but is "${limit}"`,
      );
    },
  );

  it("are read within their bounds, which they may touch", () => {
    expect(integerOption({ limit: "1" }, "limit", { from: 1, to: 10 })).toBe(1);
    expect(integerOption({ limit: "10" }, "limit", { from: 1, to: 10 })).toBe(10);
    expect(integerOption({}, "limit", { from: 1, to: 10 })).toBeUndefined();
  });
});

describe("addresses", () => {
  it("are lists of ws:// and wss:// with a port", () => {
    expect(parseEndpoints("ws://a:1, wss://b.example:2/,ws://[::1]:3", "--endpoints")).toEqual([
      "ws://a:1",
      "wss://b.example:2",
      "ws://[::1]:3",
    ]);
  });

  it.each([
    "",
    ",",
    "a:1",
    "http://a:1",
    "ws://a",
    "ws://a:1/x",
    "ws://a:1?x=1",
    "ws://u@a:1",
    "ws://a:99999",
  ])("%j is refused", (text) => {
    expect(() => parseEndpoints(text, "--endpoints")).toThrow(/^--endpoints .*ws:\/\/host:port/);
  });

  it("of peers carry their names, each once", () => {
    expect(parsePeers("a=ws://h:1,b=ws://h:2", "--peers")).toEqual({ a: "ws://h:1", b: "ws://h:2" });
    expect(() => parsePeers("a=ws://h:1,a=ws://h:2", "--peers")).toThrow("names the node a twice");
    expect(() => parsePeers("ws://h:1", "--peers")).toThrow('has "ws://h:1" in it');
    expect(() => parsePeers("a=h:1", "--peers")).toThrow("--peers, at node a, must be ws://");
  });
});

describe("how to reach the cluster", () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "quorate-test-"));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it("is said by --endpoints, else by QUORATE_ENDPOINTS, else it is the local cluster", () => {
    const variable = { QUORATE_ENDPOINTS: "ws://v:1" };
    expect(connectionOptions({ endpoints: "ws://o:1" }, variable).endpoints).toEqual(["ws://o:1"]);
    expect(connectionOptions({}, variable).endpoints).toEqual(["ws://v:1"]);
    expect(connectionOptions({}, {}).endpoints).toEqual(localEndpoints);
    expect(() => connectionOptions({}, { QUORATE_ENDPOINTS: "nonsense" })).toThrow(
      "QUORATE_ENDPOINTS must be ws://",
    );
  });

  it("takes the secret from its file without the line's end, else from QUORATE_SECRET", () => {
    const file = join(dir, "secret");
    writeFileSync(file, "correct horse battery\n");
    const variable = { QUORATE_SECRET: "from the environment" };
    expect(connectionOptions({ "secret-file": file }, variable).secret).toBe("correct horse battery");
    expect(connectionOptions({}, variable).secret).toBe("from the environment");
    expect(connectionOptions({}, {}).secret).toBeUndefined();
    writeFileSync(file, "\n");
    expect(() => connectionOptions({ "secret-file": file }, {})).toThrow("is empty");
    expect(() => connectionOptions({ "secret-file": join(dir, "none") }, {})).toThrow("cannot read");
  });
});

describe("a condition of a write", () => {
  it("is a revision or absence, never both", () => {
    expect(writeCondition({})).toEqual({});
    expect(writeCondition({ "if-absent": true })).toEqual({ ifAbsent: true });
    expect(writeCondition({ "if-revision": "7" })).toEqual({ ifRevision: 7 });
    expect(() => writeCondition({ "if-absent": true, "if-revision": "7" })).toThrow("contradict");
    expect(() => writeCondition({ "if-revision": "0" })).toThrow("--if-revision must be an integer from 1");
  });
});

describe("a local cluster's options", () => {
  it("are full after they were resolved", () => {
    expect(clusterOptions({ "data-dir": "/d" })).toEqual({
      nodes: undefined,
      basePort: 7101,
      dataDir: "/d",
      json: false,
      table: true,
      logLevel: "warn",
    });
  });

  it.each(["0", "2", "4", "7", "x"])("refuse %s nodes", (nodes) => {
    expect(() => clusterOptions({ nodes })).toThrow(`--nodes must be 1, 3 or 5, but is "${nodes}"`);
  });

  it("refuse what contradicts itself", () => {
    expect(() => clusterOptions({ ephemeral: true, "data-dir": "d" })).toThrow("contradict");
    expect(() => clusterOptions({ "base-port": "65535" })).toThrow(
      "--base-port must be an integer from 1 to 65531",
    );
  });

  it("become the nodes' command lines, as an operator would type them", () => {
    const [a, b] = nodeSpecs(3, 7101, "/data", "warn");
    expect(a?.endpoint).toBe("ws://127.0.0.1:7101");
    expect(b?.args.join(" ")).toBe(
      "node --id b --listen ws://127.0.0.1:7102 " +
        "--peers a=ws://127.0.0.1:7101,b=ws://127.0.0.1:7102,c=ws://127.0.0.1:7103 " +
        "--data-dir /data/b --log-level warn",
    );
  });
});
