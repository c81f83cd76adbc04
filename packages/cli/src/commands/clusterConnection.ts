/**
 * The one-shot commands' way to a cluster: their common options, a connection without a session, and its end. Without
 * a session a write that got no answer is not sent again blindly; the command then says that its outcome is unknown.
 */
import type { Cluster } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { durationOption, parseEndpoints, readOptionFile, readSecret, textOption } from "../optionValues.ts";

/** The endpoints of `quorate cluster` with its default ports and number of nodes. */
export const localEndpoints: readonly string[] = [7101, 7102, 7103].map((port) => `ws://127.0.0.1:${port}`);

export interface ConnectionOptions {
  readonly endpoints: readonly string[];
  readonly timeoutMs: number;
  readonly secret: string | undefined;
  /** PEM. */
  readonly ca: string | undefined;
}

export function connectionOptions(
  options: GivenOptions,
  environment: NodeJS.ProcessEnv = process.env,
): ConnectionOptions {
  const caFile = textOption(options, "tls-ca");
  return Object.freeze({
    endpoints: chooseEndpoints(textOption(options, "endpoints"), environment.QUORATE_ENDPOINTS),
    timeoutMs: durationOption(options, "timeout") ?? 5_000,
    secret: readSecret(textOption(options, "secret-file"), environment, "--secret-file"),
    ca: caFile === undefined ? undefined : readOptionFile(caFile, "--tls-ca"),
  });
}

function chooseEndpoints(given: string | undefined, variable: string | undefined): readonly string[] {
  if (given !== undefined) return parseEndpoints(given, "--endpoints");
  if (variable !== undefined && variable !== "") return parseEndpoints(variable, "QUORATE_ENDPOINTS");
  return localEndpoints;
}

/** Runs `use` with a connection and ends it, whatever happens. Leases need a session. */
export async function withCluster<Result>(
  options: ConnectionOptions,
  use: (cluster: Cluster) => Promise<Result>,
  session: { readonly session: boolean; readonly sessionTtlMs?: number } = { session: false },
): Promise<Result> {
  const { connect } = await import("@quorate/client");
  const cluster = connect({
    endpoints: options.endpoints,
    ...session,
    requestTimeoutMs: options.timeoutMs,
    ...(options.secret === undefined ? {} : { secret: options.secret }),
    ...(options.ca === undefined ? {} : { tls: { ca: options.ca } }),
  });
  try {
    return await use(cluster);
  } finally {
    await cluster.close();
  }
}
