/**
 * Who may import whom, and whether the sources keep to it.
 *
 *   cli ─▶ kv ─▶ client ─▶ transport ─▶ raft        storage ─▶ raft        sim ─▶ all but cli; never a socket or a disk
 *
 * Type imports count as well: a layer must not even know the words of a layer above it.
 */
import type { HouseFile } from "./houseFiles.ts";
import { type Import, importsOf, mask } from "./sourceText.ts";

/** Sister packages by folder, others by name. `node:` modules are free where no pure folder is concerned. */
const packages: Readonly<Record<string, readonly string[]>> = {
  raft: [],
  transport: ["@quorate/raft", "ws", "msgpackr"],
  storage: ["@quorate/raft", "level"],
  client: ["@quorate/raft", "@quorate/transport"],
  kv: ["@quorate/client", "@quorate/storage", "@quorate/transport", "@quorate/raft"],
  sim: [
    "@quorate/kv",
    "@quorate/client",
    "@quorate/storage",
    "@quorate/transport",
    "@quorate/raft",
    "fast-check",
  ],
  cli: [
    "@quorate/kv",
    "@quorate/client",
    "@quorate/storage",
    "@quorate/transport",
    "@quorate/raft",
    "@quorate/sim",
    "@electric-sql/pglite",
    "commander",
    "pino",
    "pino-pretty",
    "valibot",
  ],
};

interface Layer {
  readonly folder: string;
  /** Folders and files of the same package that it may import besides its own. */
  readonly within: readonly string[];
  /** Others that it may import; undefined: what its package may. */
  readonly others?: readonly string[];
}

/** Layers inside packages, lowest first. A file that is in none of them may import all of its package. */
const layers: readonly Layer[] = [
  { folder: "packages/raft/src/core/", within: [], others: [] },
  { folder: "packages/raft/src/errors.ts", within: [], others: [] },
  { folder: "packages/raft/src/optionNames.ts", within: ["packages/raft/src/errors.ts"], others: [] },
  {
    folder: "packages/raft/src/ports/",
    within: ["packages/raft/src/core/", "packages/raft/src/errors.ts"],
    others: [],
  },
  {
    folder: "packages/raft/src/node/",
    within: [
      "packages/raft/src/core/",
      "packages/raft/src/errors.ts",
      "packages/raft/src/optionNames.ts",
      "packages/raft/src/ports/",
    ],
  },
  { folder: "packages/client/src/protocol/", within: [], others: [] },
  {
    // The public API alone.
    folder: "packages/client/src/recipes/",
    within: [
      "packages/client/src/cluster.ts",
      "packages/client/src/leaseApi.ts",
      "packages/client/src/leaseLostError.ts",
      "packages/client/src/optionNames.ts",
    ],
    others: ["@quorate/raft"],
  },
  {
    folder: "packages/kv/src/machine/",
    within: [],
    others: ["@quorate/client/protocol", "sorted-btree"],
  },
  { folder: "packages/kv/src/server/", within: ["packages/kv/src/machine/"] },
];

/** What a path from `from` (a file) with `specifier` (starts with a dot) leads to. */
export function resolveRelative(from: string, specifier: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** `@quorate/raft` of `@quorate/raft/internal`, `ws` of `ws/lib/x.js`. */
export function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function relativeComplaint(file: HouseFile, specifier: string): string | undefined {
  const target = resolveRelative(file.path, specifier);
  const home = /^packages\/[^/]+\/src\//.exec(file.path)?.[0] as string;
  if (!target.startsWith(home)) return "a sister package is imported by its name";
  const layer = layers.find((candidate) => file.path.startsWith(candidate.folder));
  if (layer === undefined) return;
  if ([layer.folder, ...layer.within].some((allowed) => target.startsWith(allowed))) return;
  return `${layer.folder} must not know of it`;
}

function packageComplaint(file: HouseFile, specifier: string): string | undefined {
  const layer = layers.find((candidate) => file.path.startsWith(candidate.folder));
  if (specifier.startsWith("node:")) {
    return layer?.others === undefined ? undefined : `${layer.folder} has no platform`;
  }
  if (layer?.others !== undefined) {
    return layer.others.includes(specifier) ? undefined : `${layer.folder} must not know of it`;
  }
  const name = file.path.split("/")[1] as string;
  const allowed = packages[name] ?? [];
  if (!allowed.includes(packageOf(specifier))) return `packages/${name} must not import it`;
  if (!specifier.startsWith("@quorate/")) return;
  const entry = specifier.split("/").slice(2).join("/");
  return entry === "" || /^[a-z]+(?:\/[a-z]+)?$/.test(entry)
    ? undefined
    : "only the entries of a package are its surface";
}

/** Complaints about the imports of one file of `packages/<name>/src`. */
export function layeringComplaints(file: HouseFile): string[] {
  if (!/^packages\/[^/]+\/src\//.test(file.path)) return [];
  return importsOf(mask(file.text)).flatMap(({ specifier }) => {
    const complaint = specifier.startsWith(".")
      ? relativeComplaint(file, specifier)
      : packageComplaint(file, specifier);
    return complaint === undefined ? [] : [`${file.path}: imports ${specifier}: ${complaint}`];
  });
}

/** The source file behind `@quorate/raft/internal` and the like, by the packages' manifests. */
function entryFile(manifests: ReadonlyMap<string, HouseFile>, specifier: string): string | undefined {
  const manifest = manifests.get(packageOf(specifier));
  if (manifest === undefined) return;
  const entry = `.${specifier.slice(packageOf(specifier).length)}`;
  const { exports } = JSON.parse(manifest.text) as { exports: Record<string, { development?: string }> };
  const source = exports[entry]?.development;
  return source === undefined ? undefined : resolveRelative(manifest.path, source);
}

/**
 * Every way from `entry` to a module of `forbidden` that is loaded together with it, as the chain of files that leads
 * there. What is imported lazily, or as a type, is not loaded.
 */
export function loadedWith(
  entry: string,
  forbidden: ReadonlySet<string>,
  files: readonly HouseFile[],
): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const manifests = new Map(
    files
      .filter((file) => /^packages\/[^/]+\/package\.json$/.test(file.path))
      .map((file) => [(JSON.parse(file.text) as { name: string }).name, file]),
  );
  const chains = new Map<string, string>([[entry, entry]]);
  const found: string[] = [];
  const follow = (path: string, loaded: Import): void => {
    const chain = `${chains.get(path)} → ${loaded.specifier}`;
    if (forbidden.has(packageOf(loaded.specifier))) found.push(chain);
    const target = loaded.specifier.startsWith(".")
      ? resolveRelative(path, loaded.specifier)
      : entryFile(manifests, loaded.specifier);
    if (target !== undefined && !chains.has(target)) chains.set(target, chain);
  };
  for (const path of chains.keys()) {
    const file = byPath.get(path);
    if (file === undefined) continue;
    for (const loaded of importsOf(mask(file.text))) if (!loaded.erased && !loaded.lazy) follow(path, loaded);
  }
  return found;
}
