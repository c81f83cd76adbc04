/** What a client may be told, resolved once into a full, frozen object; what makes no sense is refused here. */
import { QuorateError } from "@quorate/raft";
import { defaultSessionTtlMs, isFiniteTtl, maxRequestTimeoutMs, maxSessionTtlMs } from "./protocol/index.ts";

export interface ClientOptions {
  /** Where nodes listen, `ws://host:port` or `wss://host:port`. One that works is enough; more survive more. */
  readonly endpoints: readonly string[];
  /** How long a request is tried, retries included. Default 5,000. */
  readonly requestTimeoutMs?: number;
  /** How long the cluster remembers this client when it falls silent. Default 15,000. */
  readonly sessionTtlMs?: number;
  /**
   * Default true: writes go through a session and are executed once, however often they have to be sent. With false
   * a write whose answer is lost is not sent again and reports `outcome: "unknown"`.
   */
  readonly session?: boolean;
}

export interface ResolvedClientOptions {
  readonly endpoints: readonly string[];
  readonly requestTimeoutMs: number;
  readonly sessionTtlMs: number;
  readonly session: boolean;
}

const maxEndpoints = 64;

export function resolveClientOptions(options: ClientOptions): ResolvedClientOptions {
  const { endpoints, requestTimeoutMs = 5_000, sessionTtlMs = defaultSessionTtlMs, session = true } = options;
  if (!Array.isArray(endpoints) || endpoints.length < 1 || endpoints.length > maxEndpoints) {
    throw invalid(
      `endpoints has to list 1 to ${maxEndpoints} addresses of nodes, such as ws://127.0.0.1:7101`,
    );
  }
  for (const endpoint of endpoints) {
    if (!/^wss?:\/\/[^\s/?#]+\/?$/.test(endpoint)) {
      throw invalid(
        `The endpoint ${JSON.stringify(endpoint)} is no address: write it like ws://10.0.0.1:7101`,
      );
    }
  }
  if (!(requestTimeoutMs >= 1 && requestTimeoutMs <= maxRequestTimeoutMs)) {
    throw invalid(
      `requestTimeoutMs is ${requestTimeoutMs}; it has to be from 1 to ${maxRequestTimeoutMs} ms`,
    );
  }
  if (!isFiniteTtl(sessionTtlMs)) {
    throw invalid(`sessionTtlMs is ${sessionTtlMs}; it has to be an integer from 1 to ${maxSessionTtlMs} ms`);
  }
  const trimmed = [...new Set(endpoints.map((endpoint) => endpoint.replace(/\/$/, "")))];
  return Object.freeze({ endpoints: Object.freeze(trimmed), requestTimeoutMs, sessionTtlMs, session });
}

function invalid(sentence: string): QuorateError {
  return new QuorateError("INVALID_OPTIONS", `${sentence}.`);
}
