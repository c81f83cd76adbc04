/** A cluster's data directory: its number of nodes, its one supervisor, its ports. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CommandFailure,
  expectFreePorts,
  lockDataDir,
  nodeDirectories,
  requireOneNode,
  settleNodeCount,
  UsageError,
} from "quorate/internal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "quorate-test-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe("the number of nodes of a data directory", () => {
  it("is three where nothing else was asked for, and is kept", () => {
    const data = join(dir, "new", "data");
    expect(settleNodeCount(data, undefined)).toBe(3);
    expect(JSON.parse(readFileSync(join(data, "cluster.json"), "utf8"))).toEqual({
      formatVersion: 1,
      nodes: 3,
    });
    expect(readdirSync(data)).toEqual(["cluster.json"]);
  });

  it("is the data's where none is asked for", () => {
    settleNodeCount(dir, 5);
    expect(settleNodeCount(dir, undefined)).toBe(5);
    expect(settleNodeCount(dir, 5)).toBe(5);
  });

  it("is refused with both numbers where it is another", () => {
    settleNodeCount(dir, 5);
    expect(() => settleNodeCount(dir, 3)).toThrow(UsageError);
    expect(() => settleNodeCount(dir, 3)).toThrow(/holds the data of 5 nodes, but --nodes is 3/);
  });

  it("is counted where the record is lost", () => {
    for (const id of ["a", "b", "c"]) mkdirSync(join(dir, id));
    expect(() => settleNodeCount(dir, 1)).toThrow(/holds the data of 3 nodes, but --nodes is 1/);
    expect(settleNodeCount(dir, undefined)).toBe(3);
    rmSync(join(dir, "cluster.json"));
    rmSync(join(dir, "c"), { recursive: true });
    expect(() => settleNodeCount(dir, undefined)).toThrow(
      "holds the data of 2 nodes; quorate cluster runs 1, 3 or 5",
    );
  });

  it.each(["", "null", "{}", '{"formatVersion":2,"nodes":3}', '{"formatVersion":1,"nodes":"3"}'])(
    "is not guessed from a record like %j",
    (content) => {
      writeFileSync(join(dir, "cluster.json"), content);
      expect(() => settleNodeCount(dir, undefined)).toThrow(CommandFailure);
      expect(() => settleNodeCount(dir, undefined)).toThrow("not a record that this version understands");
    },
  );
});

describe("the lock of a data directory", () => {
  it("is held by one supervisor, whose process it names, until it is released", () => {
    const lock = lockDataDir(dir);
    expect(lock.wasLeftBehind).toBe(false);
    expect(() => lockDataDir(dir)).toThrow(`Another quorate cluster (process ${process.pid}) runs on ${dir}`);
    lock.release();
    expect(readdirSync(dir)).toEqual([]);
    lockDataDir(dir).release();
  });

  it("of a process that was killed is taken over", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    writeFileSync(join(dir, "supervisor.lock"), JSON.stringify({ pid: child.pid, startedAt: null }));
    expect(() => lockDataDir(dir)).toThrow(`process ${child.pid}`);
    child.kill("SIGKILL");
    await once(child, "exit");
    const lock = lockDataDir(dir);
    expect(lock.wasLeftBehind).toBe(true);
    expect(readdirSync(dir)).toEqual(["supervisor.lock"]);
    lock.release();
  });

  it("of an earlier process with the same number is taken over", {
    skip: !existsSync("/proc/self/stat"),
  }, () => {
    writeFileSync(join(dir, "supervisor.lock"), JSON.stringify({ pid: process.pid, startedAt: "1" }));
    const lock = lockDataDir(dir);
    expect(lock.wasLeftBehind).toBe(true);
    lock.release();
  });

  it("that is no lock of ours is taken over", () => {
    writeFileSync(join(dir, "supervisor.lock"), "");
    const lock = lockDataDir(dir);
    expect(lock.wasLeftBehind).toBe(true);
    lock.release();
  });
});

describe("the ports of a cluster", () => {
  it("that are in use are named, with what to do", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await expect(expectFreePorts([port], false)).rejects.toThrow(
      `Port ${port} of 127.0.0.1 is in use by another process. Stop what uses it, or choose other ports`,
    );
    server.close();
    await once(server, "close");
    await expect(expectFreePorts([port], false)).resolves.toBeUndefined();
  });

  it("are waited for where a killed supervisor's nodes are on their way out", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const waiting = expectFreePorts([port], true);
    server.close();
    await expect(waiting).resolves.toBeUndefined();
  });
});

describe("the directories that doctor examines", () => {
  it("are a node's own, or those of every node of a cluster", () => {
    for (const id of ["b", "a"]) {
      mkdirSync(join(dir, id, "log"), { recursive: true });
    }
    mkdirSync(join(dir, "other"));
    expect(nodeDirectories(dir)).toEqual([join(dir, "a"), join(dir, "b")]);
    expect(nodeDirectories(join(dir, "a"))).toEqual([join(dir, "a")]);
    expect(() => nodeDirectories(join(dir, "other"))).toThrow("holds the data of a node");
    expect(() => nodeDirectories(join(dir, "none"))).toThrow("is no directory");
    expect(() => requireOneNode(dir)).toThrow(
      `those in it are ${join(dir, "a")}, ${join(dir, "b")}: name one`,
    );
    requireOneNode(join(dir, "a"));
    requireOneNode(join(dir, "other"));
  });
});
