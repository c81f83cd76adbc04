/** connect(): a cluster seen from outside, over WebSockets. */
import {
  type Clock,
  type Logger,
  type Network,
  type Random,
  silentLogger,
  systemClock,
  systemRandom,
} from "@quorate/raft";
import { type TlsOptions, websocketNetwork } from "@quorate/transport";
import { type ClientOptions, resolveClientOptions } from "./clientOptions.ts";
import type { Cluster } from "./cluster.ts";
import { createCluster } from "./createCluster.ts";
import { holdProcess } from "./holdProcess.ts";
import { taken } from "./optionNames.ts";

export interface ConnectOptions extends ClientOptions {
  /** The secret that the nodes were started with, if they were. */
  readonly secret?: string;
  /** For `wss://` endpoints whose certificates are signed by an authority of your own. */
  readonly tls?: TlsOptions;
  /** Silent by default; pino fits. */
  readonly logger?: Logger;
  /** For tests, in place of WebSockets, the system's clock and its chance. */
  readonly network?: Network;
  readonly clock?: Clock;
  readonly random?: Random;
}

/**
 * Gives a cluster object at once; connections are made when they are needed, so an unreachable cluster shows itself
 * at the first request.
 *
 * Throws `INVALID_OPTIONS`. Close the object, or hold it with `await using`: that ends its session at the cluster.
 */
export function connect(options: ConnectOptions): Cluster {
  const { secret, tls, logger = silentLogger } = taken("connect", options);
  const resolved = resolveClientOptions(options);
  const network =
    options.network ??
    websocketNetwork({
      logger,
      ...(secret === undefined ? {} : { secret }),
      ...(tls === undefined ? {} : { tls }),
    });
  const { clock = systemClock(), random = systemRandom() } = options;
  return createCluster({ network, clock, random, logger, hold: holdProcess }, resolved);
}
