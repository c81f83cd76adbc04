/** The one-shot commands as real processes, against one real node: what they print, and the code they end with. */
import { execFile, spawn } from "node:child_process";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authority, certificate, key } from "../transport/certificates.ts";
import { NodeProcess, quorateCommand } from "./rig/nodeProcess.ts";
import { freePortBlock } from "./rig/ports.ts";

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let directory: string;
let endpoint: string;
let node: NodeProcess;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "quorate-commands-"));
  endpoint = `ws://127.0.0.1:${await freePortBlock(1)}`;
  node = new NodeProcess({
    id: "a",
    listen: endpoint,
    peers: { a: endpoint },
    dataDir: join(directory, "a"),
  });
  node.start();
});

afterAll(async () => {
  await node.kill();
  await rm(directory, { recursive: true, force: true });
});

interface RunOptions {
  readonly input?: Uint8Array | string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs the command to its end; a test that waits for ever fails by its time. */
function run(words: readonly string[], { input, environment }: RunOptions = {}): Promise<Result> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...environment };
    const done = (error: unknown, stdout: Buffer, stderr: Buffer): void => {
      const code = error === null ? 0 : Number((error as { code: number }).code);
      resolve({ code, stdout: stdout.toString("latin1"), stderr: stderr.toString() });
    };
    const child = execFile(process.execPath, [quorateCommand, ...words], { env, encoding: "buffer" }, done);
    child.stdin?.end(input);
  });
}

/** With the node's endpoint from the environment. */
function quorate(...words: readonly string[]): Promise<Result> {
  return run(words, { environment: { QUORATE_ENDPOINTS: endpoint } });
}

describe("the plain commands", () => {
  it("write, read, list and delete, and say with their code what came of it", async () => {
    const put = await quorate("put", "greeting", "hello", "--timeout", "20s");
    expect(put).toEqual({ code: 0, stdout: "1\n", stderr: "" });
    expect(await quorate("get", "greeting")).toEqual({ code: 0, stdout: "hello", stderr: "" });
    expect((await quorate("put", "greeting", "x", "--if-absent")).code).toBe(4);
    expect((await quorate("put", "greeting", "x", "--if-revision", "7")).code).toBe(4);
    const again = await quorate("put", "greeting", "again", "--if-revision", "1", "--json");
    expect(JSON.parse(again.stdout)).toEqual({ revision: 2 });
    expect((await quorate("list", "gre")).stdout).toBe("greeting\tagain\n");
    const list = await quorate("list", "--json");
    const entry = {
      key: "greeting",
      value: "again",
      format: "text",
      createRevision: 1,
      modRevision: 2,
      version: 2,
    };
    expect(JSON.parse(list.stdout)).toEqual({ entries: [entry], cursor: null, revision: 2 });
    expect((await quorate("delete", "greeting", "--if-revision", "1")).code).toBe(4);
    expect((await quorate("delete", "greeting")).code).toBe(0);
    const gone = await quorate("get", "greeting");
    expect(gone).toEqual({ code: 5, stdout: "", stderr: 'quorate: There is no key "greeting".\n' });
    expect((await quorate("delete", "greeting")).code).toBe(5);
  });

  it("carry any bytes from standard input to standard output unchanged", async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    const words = ["put", "raw", "-", "--endpoints", endpoint];
    expect((await run(words, { input: bytes })).code).toBe(0);
    const { stdout } = await quorate("get", "raw");
    expect(Buffer.from(stdout, "latin1").equals(bytes)).toBe(true);
    const tooLong = await run(words, { input: Buffer.alloc(1024 * 1024 + 1) });
    expect(tooLong).toMatchObject({ code: 2, stderr: expect.stringContaining("1 MiB") });
  });

  it("page through what they list", async () => {
    for (const key of ["p/1", "p/2", "p/3"]) await quorate("put", key, "v");
    const first = await quorate("list", "p/", "--limit", "2", "--keys-only");
    expect(first.stdout).toBe("p/1\np/2\n");
    const cursor = /--cursor (\S+)/.exec(first.stderr)?.[1] ?? "";
    expect((await quorate("list", "p/", "--limit", "2", "--keys-only", "--cursor", cursor)).stdout).toBe(
      "p/3\n",
    );
  });

  it("show the status as the documented object", async () => {
    const { code, stdout } = await quorate("status", "--json");
    expect(code).toBe(0);
    const status = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(status)).toEqual(["clusterId", "leader", "term", "revision", "nodes"]);
    expect(status.nodes).toEqual([
      {
        id: "a",
        pid: node.pid,
        role: "leader",
        term: status.term,
        commitIndex: expect.any(Number),
        appliedIndex: expect.any(Number),
        endpoint,
      },
    ]);
  });

  it("say in a sentence that their output cannot be written", async () => {
    const readOnly = await open(process.execPath, "r");
    try {
      const child = spawn(process.execPath, [quorateCommand, "--version"], {
        stdio: ["ignore", readOnly.fd, "pipe"],
      });
      let said = "";
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
      const code = await new Promise((resolve) => child.once("close", resolve));
      expect(code).toBe(1);
      expect(said).toMatch(
        /^quorate: The output cannot be written \(.*\); what it tells of may be done\.\n$/,
      );
    } finally {
      await readOnly.close();
    }
  });

  it("examine a directory that is in use, and leave it as it is", async () => {
    const before = await readFile(join(directory, "a", "identity.json"));
    const { code, stdout } = await quorate("doctor", directory);
    expect(stdout).toContain("It starts as a voter with everything that it acknowledged.");
    expect(code).toBe(0);
    expect(await readFile(join(directory, "a", "identity.json"))).toEqual(before);
    expect((await quorate("doctor", join(directory, "none"))).code).toBe(2);
  });
});

describe("a node that does not answer", () => {
  it("makes writes, reads and status end as unavailable within their time", async () => {
    node.signal("SIGSTOP");
    try {
      for (const words of [["put", "k", "v"], ["get", "k"], ["status"]]) {
        const result = await quorate(...words, "--timeout", "500ms");
        expect(result.code).toBe(3);
        expect(result.stderr).toContain(endpoint);
      }
    } finally {
      node.signal("SIGCONT");
    }
  });

  it("that is not there is named, with what to do", async () => {
    const nowhere = `ws://127.0.0.1:${await freePortBlock(1)}`;
    const result = await run(["status", "--endpoints", nowhere, "--timeout", "300ms"]);
    expect(result.code).toBe(3);
    expect(result.stderr).toContain(`No node answers at ${nowhere}. Is the cluster running?`);
    const put = await run(["put", "k", "v", "--endpoints", nowhere, "--timeout", "300ms", "--json"]);
    expect(put.code).toBe(3);
    expect(JSON.parse(put.stderr)).toMatchObject({ error: { code: "TIMED_OUT", outcome: "none" } });
    const { message } = (JSON.parse(put.stderr) as { error: { message: string } }).error;
    expect(message).toContain(`Asked were ${nowhere}: could not be reached: connect ECONNREFUSED`);
    const secured = endpoint.replace("ws:", "wss:");
    const mistaken = await run(["get", "k", "--endpoints", secured, "--timeout", "300ms"]);
    expect(mistaken.stderr.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/^quorate: No answer .*EPROTO/),
    ]);
    const status = await run(["--json", "status", "--endpoints", nowhere, "--timeout", "300ms"]);
    expect(status.code).toBe(3);
    expect(JSON.parse(status.stderr)).toMatchObject({
      error: { message: expect.stringMatching(/^No node/) },
    });
  });
});

describe("a node that would be open to everyone", () => {
  it("is refused off the loopback without TLS or a secret, and a secret must be long", async () => {
    const port = await freePortBlock(1);
    const words = [
      "node",
      "--id",
      "z",
      "--listen",
      `ws://0.0.0.0:${port}`,
      "--peers",
      `z=ws://127.0.0.1:${port}`,
    ];
    const open = await run([...words, "--data-dir", join(directory, "z")]);
    expect(open).toMatchObject({ code: 2, stderr: expect.stringMatching(/TLS|secret/) });
    const options = { environment: { QUORATE_SECRET: "short" } };
    expect((await run([...words, "--data-dir", join(directory, "z")], options)).code).toBe(2);
  });

  it("lets in with TLS and a secret those alone who know both", async () => {
    const file = async (name: string, content: string): Promise<string> => {
      await writeFile(join(directory, name), content);
      return join(directory, name);
    };
    const ca = await file("ca.pem", authority);
    const secret = await file("secret", "correct horse battery staple\n");
    const tls = ["--tls-cert", await file("node.pem", certificate), "--tls-key", await file("node.key", key)];
    const listen = `wss://127.0.0.1:${await freePortBlock(1)}`;
    const moreArguments = [...tls, "--tls-ca", ca, "--secret-file", secret];
    const secure = new NodeProcess({
      id: "s",
      listen,
      peers: { s: listen },
      dataDir: join(directory, "s"),
      moreArguments,
    });
    secure.start();
    try {
      const words = ["put", "k", "v", "--endpoints", listen];
      const known = await run([...words, "--timeout", "20s", "--tls-ca", ca, "--secret-file", secret]);
      expect(known).toEqual({ code: 0, stdout: "1\n", stderr: "" });
      const noSecret = await run([...words, "--timeout", "1s", "--tls-ca", ca]);
      expect(noSecret.code).not.toBe(0);
      const noAuthority = await run([...words, "--timeout", "1s", "--secret-file", secret]);
      expect(noAuthority.code).not.toBe(0);
    } finally {
      await secure.kill();
    }
  });
});
