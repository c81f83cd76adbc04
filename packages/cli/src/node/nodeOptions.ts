/**
 * A node's options: those of the command line before those of the `--config` file, resolved once into a full, frozen
 * object. Contradictions are refused here in the command's own words; what the library checks is left to it.
 */
import { resolve } from "node:path";
import { maxPriority } from "@quorate/raft";
import type { GivenOptions } from "../arguments.ts";
import {
  checkAddress,
  integerOption,
  parseEndpoints,
  parsePeers,
  readOptionFile,
  readSecret,
  textOption,
} from "../optionValues.ts";
import { UsageError } from "../usageError.ts";
import type { ConfigFile } from "./configFile.ts";
import { isLogLevel, type LogLevel, logLevels } from "./nodeLogger.ts";

export interface TlsOptions {
  /** PEM, all three. Without `ca` the authorities that Node.js trusts have to have signed the others' certificates. */
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

export interface NodeOptions {
  readonly id: string;
  readonly listen: string;
  /** Undefined: it joins a running cluster. */
  readonly peers: Readonly<Record<string, string>> | undefined;
  /** Addresses of members of the cluster to join. */
  readonly via: readonly string[] | undefined;
  readonly learner: boolean;
  readonly dataDir: string;
  readonly logLevel: LogLevel;
  readonly secret: string | undefined;
  readonly tls: TlsOptions | undefined;
  readonly insecure: boolean;
  readonly electionTimeoutMs: { readonly min: number; readonly max: number } | undefined;
  readonly heartbeatMs: number | undefined;
  readonly priority: number | undefined;
  readonly snapshots: ConfigFile["snapshots"];
}

export async function nodeOptions(
  given: GivenOptions,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<NodeOptions> {
  const path = textOption(given, "config");
  const file = path === undefined ? {} : (await import("./configFile.ts")).readConfigFile(path);
  const id = required(textOption(given, "id") ?? file.id, "--id", "id");
  const listen = checkAddress(
    required(textOption(given, "listen") ?? file.listen, "--listen", "listen"),
    "--listen",
  );
  const via = chooseVia(given, file);
  const peers = via === undefined ? choosePeers(given, file, id, listen) : undefined;
  const learner = given.learner === true || file.learner === true;
  if (learner && via === undefined)
    throw new UsageError("--learner is for a node that joins: give --join too.");
  const tls = chooseTls(given, file);
  checkScheme(listen, "--listen", tls);
  for (const [peer, address] of Object.entries(peers ?? {})) checkScheme(address, `the peer ${peer}`, tls);
  for (const address of via ?? []) checkScheme(address, "--join", tls);
  return Object.freeze({
    id,
    listen,
    peers,
    via,
    learner,
    dataDir: resolve(required(textOption(given, "data-dir") ?? file.dataDir, "--data-dir", "dataDir")),
    logLevel: chooseLogLevel(textOption(given, "log-level") ?? file.logLevel ?? "info"),
    secret: readSecret(textOption(given, "secret-file") ?? file.secretFile, environment, "--secret-file"),
    tls,
    insecure: given.insecure === true || file.insecure === true,
    electionTimeoutMs: file.electionTimeoutMs,
    heartbeatMs: file.heartbeatMs,
    priority: integerOption(given, "priority", { from: 1, to: maxPriority }) ?? file.priority,
    snapshots: file.snapshots,
  });
}

function required(value: string | undefined, option: string, field: string): string {
  if (value !== undefined) return value;
  throw new UsageError(`${option} is missing (or "${field}" in the --config file).`);
}

export function chooseLogLevel(text: string): LogLevel {
  if (isLogLevel(text)) return text;
  throw new UsageError(`--log-level must be one of ${logLevels.join(", ")}, but is "${text}".`);
}

function chooseVia(given: GivenOptions, file: ConfigFile): readonly string[] | undefined {
  const text = textOption(given, "join");
  const via = text === undefined ? file.join : parseEndpoints(text, "--join");
  if (via === undefined) return undefined;
  if (textOption(given, "peers") !== undefined || file.peers !== undefined) {
    throw new UsageError("--peers founds a cluster and --join joins one that runs: give one of them.");
  }
  return via;
}

function choosePeers(
  given: GivenOptions,
  file: ConfigFile,
  id: string,
  listen: string,
): Readonly<Record<string, string>> {
  const text = textOption(given, "peers");
  const peers = text === undefined ? file.peers : parsePeers(text, "--peers");
  // A cluster of one needs no list.
  if (peers === undefined) return { [id]: listen };
  if (Object.hasOwn(peers, id)) return peers;
  const names = Object.keys(peers).join(", ");
  throw new UsageError(`--peers names ${names}, but not this node, ${id}: list every node, this one too.`);
}

function chooseTls(given: GivenOptions, file: ConfigFile): TlsOptions | undefined {
  const cert = textOption(given, "tls-cert") ?? file.tls?.cert;
  const key = textOption(given, "tls-key") ?? file.tls?.key;
  const ca = textOption(given, "tls-ca") ?? file.tls?.ca;
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new UsageError(
      `TLS needs --tls-cert and --tls-key; ${cert === undefined ? "--tls-cert" : "--tls-key"} is missing.`,
    );
  }
  return {
    cert: readOptionFile(cert, "--tls-cert"),
    key: readOptionFile(key, "--tls-key"),
    ...(ca === undefined ? {} : { ca: readOptionFile(ca, "--tls-ca") }),
  };
}

function checkScheme(address: string, what: string, tls: TlsOptions | undefined): void {
  const isSecure = address.startsWith("wss:");
  if (isSecure && tls === undefined) {
    throw new UsageError(
      `${what} is ${address}, which needs TLS: give --tls-cert and --tls-key, or use ws://.`,
    );
  }
  if (!isSecure && tls !== undefined) {
    throw new UsageError(`${what} is ${address}, but this node has TLS: every address must be wss://.`);
  }
}
