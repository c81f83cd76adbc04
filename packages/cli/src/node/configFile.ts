/**
 * The `--config` file of `quorate node`, checked field by field by valibot. Loaded only where such a file is given.
 * Paths in it are relative to the file, so that a node starts the same from any directory.
 */
import { dirname, resolve } from "node:path";
import type { SnapshotOptions } from "@quorate/kv";
import { maxPriority } from "@quorate/raft";
import * as v from "valibot";
import { checkAddress, readOptionFile } from "../optionValues.ts";
import { UsageError } from "../usageError.ts";
import { logLevels } from "./nodeLogger.ts";

export interface ConfigFile {
  readonly id?: string | undefined;
  readonly listen?: string | undefined;
  readonly peers?: Readonly<Record<string, string>> | undefined;
  readonly join?: readonly string[] | undefined;
  readonly learner?: boolean | undefined;
  readonly dataDir?: string | undefined;
  readonly logLevel?: string | undefined;
  readonly secretFile?: string | undefined;
  readonly tls?:
    | { readonly cert: string; readonly key: string; readonly ca?: string | undefined }
    | undefined;
  readonly insecure?: boolean | undefined;
  readonly electionTimeoutMs?: { readonly min: number; readonly max: number } | undefined;
  readonly heartbeatMs?: number | undefined;
  readonly priority?: number | undefined;
  readonly snapshots?: SnapshotOptions | undefined;
}

const text = (what: string) => v.pipe(v.string(`must be ${what}`), v.minLength(1, `must be ${what}`));
const milliseconds = v.pipe(
  v.number("must be a number of milliseconds"),
  v.integer("must be a whole number of milliseconds"),
  v.minValue(1, "must be at least 1 ms"),
);

function wholeNumber(least: number) {
  return v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(least, `must be at least ${least}`),
  );
}

/** valibot takes an array for an object. */
function plainObject(what: string) {
  const isPlain = (value: unknown): boolean =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  return v.custom<Record<string, unknown>>(isPlain, `must be ${what}`);
}

const fields = v.strictObject(
  {
    id: v.optional(text("this node's name, a text")),
    listen: v.optional(text("an address like ws://10.0.0.1:7101")),
    peers: v.optional(
      v.pipe(
        plainObject("an object of node ids and addresses"),
        v.record(v.string(), text("an address like ws://10.0.0.1:7101")),
      ),
    ),
    join: v.optional(
      v.pipe(
        v.array(text("an address like ws://10.0.0.1:7101"), "must be a list of addresses"),
        v.minLength(1, "must list an address"),
      ),
    ),
    learner: v.optional(v.boolean("must be true or false")),
    dataDir: v.optional(text("a directory's path")),
    logLevel: v.optional(v.picklist(logLevels, `must be one of ${logLevels.join(", ")}`)),
    secretFile: v.optional(text("a file's path")),
    tls: v.optional(
      v.strictObject(
        {
          cert: text("a file's path"),
          key: text("a file's path"),
          ca: v.optional(text("a file's path")),
        },
        wrongObject("an object with cert, key and perhaps ca, the paths of PEM files"),
      ),
    ),
    insecure: v.optional(v.boolean("must be true or false")),
    electionTimeoutMs: v.optional(
      v.strictObject({ min: milliseconds, max: milliseconds }, wrongObject("an object with min and max")),
    ),
    heartbeatMs: v.optional(milliseconds),
    priority: v.optional(
      v.pipe(
        v.number("must be a number"),
        v.integer("must be a whole number"),
        v.minValue(1, "must be at least 1"),
        v.maxValue(maxPriority, `must be at most ${maxPriority}`),
      ),
    ),
    snapshots: v.optional(
      v.strictObject(
        {
          everyEntries: v.optional(wholeNumber(1)),
          everyBytes: v.optional(wholeNumber(1)),
          keptEntries: v.optional(wholeNumber(0)),
          maxBytesPerSecond: v.optional(wholeNumber(1)),
        },
        wrongObject("an object with everyEntries, everyBytes, keptEntries or maxBytesPerSecond"),
      ),
    ),
  },
  wrongObject("an object"),
);

const schema = v.pipe(plainObject("an object"), fields);

/** The message of an object that is none, lacks a field, or has one that it should not have. */
function wrongObject(what: string): (issue: v.StrictObjectIssue) => string {
  return (issue) => {
    if (issue.expected === "never") return "is not an option that there is";
    return issue.received === "undefined" ? "is missing" : `must be ${what}`;
  };
}

export function readConfigFile(path: string): ConfigFile {
  const config = parseConfig(readOptionFile(path, "--config"), path);
  const beside = (name: string): string => resolve(dirname(path), name);
  return {
    ...config,
    dataDir: config.dataDir === undefined ? undefined : beside(config.dataDir),
    secretFile: config.secretFile === undefined ? undefined : beside(config.secretFile),
    tls: config.tls && {
      cert: beside(config.tls.cert),
      key: beside(config.tls.key),
      ca: config.tls.ca === undefined ? undefined : beside(config.tls.ca),
    },
  };
}

/** `path` is for the message alone. */
export function parseConfig(content: string, path: string): ConfigFile {
  let data: unknown;
  try {
    data = JSON.parse(content);
  } catch (error) {
    throw new UsageError(`--config: ${path} is not JSON (${(error as Error).message}).`);
  }
  const result = v.safeParse(schema, data);
  if (!result.success) {
    const sentences = result.issues.map((issue) => `${v.getDotPath(issue) ?? "the file"} ${issue.message}`);
    throw new UsageError(`--config: in ${path} ${sentences.join("; ")}.`);
  }
  for (const [id, address] of Object.entries(result.output.peers ?? {})) {
    checkAddress(address, `--config: in ${path} peers.${id}`);
  }
  return result.output;
}
