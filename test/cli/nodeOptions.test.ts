/** A node's options: the command line before the file, contradictions refused, each wrong field named. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeOptions, parseConfig } from "quorate/internal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "quorate-test-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const given = { id: "a", listen: "ws://127.0.0.1:7101", "data-dir": "/data/a" } as const;

function file(name: string, content: string | object): string {
  const path = join(dir, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

describe("the options of a node", () => {
  it("need a name, an address and a directory; a cluster of one needs no more", async () => {
    expect(await nodeOptions(given, {})).toEqual({
      id: "a",
      listen: "ws://127.0.0.1:7101",
      peers: { a: "ws://127.0.0.1:7101" },
      dataDir: "/data/a",
      logLevel: "info",
      secret: undefined,
      tls: undefined,
      insecure: false,
      learner: false,
      via: undefined,
      electionTimeoutMs: undefined,
      heartbeatMs: undefined,
      snapshots: undefined,
    });
    for (const name of ["id", "listen", "data-dir"] as const) {
      const { [name]: _, ...rest } = given;
      await expect(nodeOptions(rest, {})).rejects.toThrow(`--${name} is missing`);
    }
  });

  it("must list this node among the peers", async () => {
    await expect(nodeOptions({ ...given, peers: "b=ws://h:1,c=ws://h:2" }, {})).rejects.toThrow(
      "--peers names b, c, but not this node, a",
    );
  });

  it("of the command line win over those of the file", async () => {
    const config = file("node.json", {
      id: "z",
      listen: "ws://127.0.0.1:1",
      peers: { z: "ws://127.0.0.1:1", a: "ws://127.0.0.1:7101" },
      logLevel: "debug",
      electionTimeoutMs: { min: 400, max: 800 },
    });
    const options = await nodeOptions({ ...given, config }, {});
    expect(options).toMatchObject({
      id: "a",
      listen: given.listen,
      logLevel: "debug",
      electionTimeoutMs: { min: 400, max: 800 },
    });
    expect(options.peers).toHaveProperty("z");
  });

  it("in a file may name other files beside it", async () => {
    mkdirSync(join(dir, "etc"));
    file("etc/secret", "correct horse battery\n");
    const config = file("etc/node.json", {
      ...{ id: "a", listen: given.listen },
      dataDir: "../data",
      secretFile: "secret",
    });
    const options = await nodeOptions({ config }, {});
    expect(options.dataDir).toBe(join(dir, "data"));
    expect(options.secret).toBe("correct horse battery");
  });

  it("must agree about TLS", async () => {
    const cert = file("cert.pem", "CERT");
    const key = file("key.pem", "KEY");
    const secure = { ...given, listen: "wss://127.0.0.1:7101", "tls-cert": cert, "tls-key": key };
    expect((await nodeOptions(secure, {})).tls).toEqual({ cert: "CERT", key: "KEY" });
    await expect(nodeOptions({ ...secure, listen: given.listen }, {})).rejects.toThrow(
      "every address must be wss://",
    );
    const { "tls-key": _, ...halfway } = secure;
    await expect(nodeOptions(halfway, {})).rejects.toThrow("--tls-key is missing");
    await expect(nodeOptions({ ...given, listen: "wss://127.0.0.1:7101" }, {})).rejects.toThrow("needs TLS");
    await expect(nodeOptions({ ...secure, "tls-cert": join(dir, "none") }, {})).rejects.toThrow(
      /^--tls-cert: cannot read/,
    );
  });

  it("refuse a log level that there is not", async () => {
    await expect(nodeOptions({ ...given, "log-level": "loud" }, {})).rejects.toThrow(
      '--log-level must be one of debug, info, warn, error, silent, but is "loud"',
    );
  });
});

describe("a config file", () => {
  it.each<[string | object, string]>([
    ["{", "is not JSON"],
    ["[]", "the file must be an object"],
    ['"x"', "the file must be an object"],
    [{ id: 7 }, "id must be this node's name"],
    [{ listen: "" }, "listen must be an address like ws://10.0.0.1:7101"],
    [{ peers: { a: 5 } }, "peers.a must be an address"],
    [{ peers: { a: "http://h:1" } }, "peers.a must be ws://host:port"],
    [{ peers: ["ws://h:1"] }, "peers must be an object of node ids and addresses"],
    [{ tls: { cert: "c" } }, "tls.key is missing"],
    [{ tls: true }, "tls must be an object with cert, key"],
    [{ lisen: "ws://h:1" }, "lisen is not an option that there is"],
    [{ insecure: "yes" }, "insecure must be true or false"],
    [{ electionTimeoutMs: 300 }, "electionTimeoutMs must be an object with min and max"],
    [
      { electionTimeoutMs: { min: 1.5, max: 2 } },
      "electionTimeoutMs.min must be a whole number of milliseconds",
    ],
    [{ logLevel: "loud" }, "logLevel must be one of debug, info"],
  ])("like %j is refused, and the place is named", (content, sentence) => {
    const words = typeof content === "string" ? content : JSON.stringify(content);
    expect(() => parseConfig(words, "node.json")).toThrow("--config: ");
    expect(() => parseConfig(words, "node.json")).toThrow(sentence);
  });
});
