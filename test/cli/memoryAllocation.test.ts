/** What a node's process is started with, so that it gives memory back to the system. */
import { nodeEnvironment } from "quorate/internal";
import { describe, expect, it } from "vitest";

describe("the process of a node", () => {
  it("gives back large pieces, unless its user has decided", () => {
    const settings = { MALLOC_MMAP_THRESHOLD_: "524288", MALLOC_TRIM_THRESHOLD_: "4194304" };
    expect(nodeEnvironment({ PATH: "/bin" })).toEqual({ PATH: "/bin", ...settings });
    expect(nodeEnvironment({ MALLOC_TRIM_THRESHOLD_: "8" })).toEqual({
      ...settings,
      MALLOC_TRIM_THRESHOLD_: "8",
    });
    const tuned = { GLIBC_TUNABLES: "glibc.malloc.arena_max=3" };
    expect(nodeEnvironment(tuned)).toEqual(tuned);
  });
});
