/** Backups that clients take from a node: whole, as of one moment, few at a time, and never for ever. */
import type { Command, ResponseBody } from "@quorate/client/protocol";
import { encodeProposal } from "@quorate/client/protocol";
import { createMachineHost } from "@quorate/kv/internal";
import { applyEntry, hashState, restoreContent } from "@quorate/kv/machine";
import type { Cancel } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import { exportIdleMs, maxExports, SnapshotExports } from "../../packages/kv/src/server/snapshotExports.ts";

function put(key: string, value: string): Uint8Array {
  const command: Command = {
    kind: "put",
    key,
    value: new TextEncoder().encode(value),
    format: "text",
    condition: { kind: "none" },
  };
  return encodeProposal({ origin: { kind: "anonymous" }, command });
}

class World {
  readonly host = createMachineHost();
  readonly timers = new Set<() => void>();
  index = 0;
  readonly exports: SnapshotExports;

  constructor() {
    const status = () => ({ appliedIndex: this.index, term: 3, configurationIndex: 0, clusterId: "c" });
    this.exports = new SnapshotExports({
      host: this.host,
      node: { member: "a.0000000000000000", status } as never,
      clock: {
        nowMs: () => 0,
        defer: () => {},
        after: (ms: number, fn: () => void): Cancel => {
          expect(ms).toBe(exportIdleMs);
          this.timers.add(fn);
          return () => void this.timers.delete(fn);
        },
      } as never,
    });
  }

  write(key: string, value: string): void {
    this.index += 1;
    applyEntry(this.host.store, { index: this.index, term: 3, kind: "command", data: put(key, value) });
  }

  take(): string {
    const body: ResponseBody = this.exports.take();
    if (body.kind !== "snapshotTaken") throw new Error(body.kind);
    return body.snapshot;
  }

  part(snapshot: string, part: number): Uint8Array {
    const body = this.exports.part(snapshot, part);
    if (body.kind !== "snapshotPart") throw new Error(body.kind);
    return body.bytes;
  }
}

describe("A snapshot that a client takes", () => {
  it("is the store as it was, whatever is written meanwhile, and each part may be asked for twice", () => {
    const world = new World();
    for (let n = 0; n < 3_000; n += 1) world.write(`key/${n}`, "v".repeat(100));
    const digest = hashState(world.host.store);
    const snapshot = world.take();
    const restoration = restoreContent();
    for (let part = 0; ; part += 1) {
      const bytes = world.part(snapshot, part);
      expect(world.part(snapshot, part)).toBe(bytes);
      if (bytes.length === 0) break;
      restoration.add(bytes);
      world.write(`key/${part}`, "changed");
    }
    expect(hashState(restoration.finish())).toBe(digest);
    expect(hashState(world.host.store)).not.toBe(digest);
  });

  it("is refused beyond a limit, and dropped when nobody asks for it any more", () => {
    const world = new World();
    world.write("key", "value");
    const names = Array.from({ length: maxExports }, () => world.take());
    expect(() => world.take()).toThrow(expect.objectContaining({ code: "OVERLOADED", retryable: true }));
    expect(world.part(names[0] as string, 0).length).toBeGreaterThan(0);
    expect(world.timers.size).toBe(maxExports);
    for (const fire of [...world.timers]) fire();
    expect(() => world.part(names[0] as string, 1)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
    world.take();
  });

  it("makes room for another one once it was given whole", () => {
    const world = new World();
    world.write("key", "value");
    for (let n = 0; n < maxExports + 2; n += 1) {
      const snapshot = world.take();
      let part = 0;
      while (world.part(snapshot, part).length > 0) part += 1;
      expect(world.part(snapshot, part)).toHaveLength(0);
    }
    expect(world.timers.size).toBe(2);
  });

  it("gives no part but the next one and the last one", () => {
    const world = new World();
    world.write("key", "value");
    const snapshot = world.take();
    for (const wrong of [1, 7]) expect(() => world.part(snapshot, wrong)).toThrow("no such part");
    world.part(snapshot, 0);
    world.part(snapshot, 1);
    expect(() => world.part(snapshot, 0)).toThrow("no such part");
    expect(() => world.part("another", 0)).toThrow("no such part");
  });
});
