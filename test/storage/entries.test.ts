/** What is loaded with each entry of the package. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const sources = fileURLToPath(new URL("../../packages/storage/src/", import.meta.url));

/** What a file imports when it is loaded, directly or through others: types and `import()` are not loaded. */
function loadedBy(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const statements = readFileSync(path, "utf8").matchAll(
    /^(import|export) (?!type )[^;]*? from "([^"]+)";/gms,
  );
  for (const [, , name = ""] of statements) {
    if (name.startsWith(".")) loadedBy(join(dirname(path), name), seen);
    else seen.add(name);
  }
  return seen;
}

describe("The entries of the storage package", () => {
  it("load no LevelDB: the simulator has none, and a command that opens no database does not wait for it", () => {
    for (const entry of ["index.ts", "internal.ts"]) {
      const loaded = loadedBy(join(sources, entry));
      expect([...loaded]).toContain("@quorate/raft");
      expect([...loaded]).not.toContain("level");
    }
  });

  it("keep files and LevelDB away from the log's own logic", () => {
    expect(existsSync(join(sources, "log/openLog.ts"))).toBe(true);
    const own = ["log/", "snapshots/"].map((folder) => join(sources, folder));
    const outside = [...loadedBy(join(sources, "log/openLog.ts"))].filter(
      (name) => !own.some((folder) => name.startsWith(folder)),
    );
    expect(outside.sort()).toEqual(["@quorate/raft", "node:zlib"]);
  });
});
