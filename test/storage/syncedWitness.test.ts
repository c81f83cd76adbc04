/** A write of the witness is on the disk when it resolves. What Linux was asked for is read where Linux says it. */
import { constants, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { DiskSlotFile } from "@quorate/storage/internal";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "./temporaryDirectory.ts";

/** The flags of this process's descriptors of that file. */
function openFlagsOf(path: string): number[] {
  const links = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return { fd, target: readlinkSync(`/proc/self/fd/${fd}`) };
    } catch {
      return { fd, target: "" }; // closed since, as the descriptor is that listed them
    }
  });
  return links
    .filter(({ target }) => target === path)
    .map(({ fd }) => {
      const [, octal = ""] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
      return Number.parseInt(octal, 8);
    });
}

describe.runIf(process.platform === "linux")("the witness file on Linux", () => {
  it("is open so that each write syncs, the first one after its making and those of a later start", async () => {
    const path = join(temporaryDirectory(), "witness");
    for (let start = 0; start < 2; start += 1) {
      const file = new DiskSlotFile(path);
      await file.write(start === 0 ? 0 : 1, new Uint8Array(16).fill(1));
      const flags = openFlagsOf(path);
      expect(flags).toHaveLength(1);
      expect((flags[0] ?? 0) & constants.O_DSYNC).toBe(constants.O_DSYNC);
      await file.close();
    }
  });
});
