/**
 * What a WebSocket network can be told, resolved once into a full, frozen object.
 *
 * Unsafe or contradictory options are refused here, before anything listens.
 */
import {
  type Logger,
  type OptionNames,
  QuorateError,
  refuseUnknownOptions,
  silentLogger,
} from "@quorate/raft";
import { maxFrameBytes } from "../limits.ts";
import { isLoopback, parseAddress } from "../network/address.ts";
import type { Pages } from "./pages.ts";
import { sealBytes } from "./sealedFrame.ts";

/** PEM texts. */
export interface TlsOptions {
  /** The certificate chain that this node shows, and its key. Needed to listen at a `wss://` address. */
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  /** Who may have signed the other side's certificate. Default: the authorities that Node.js trusts. */
  readonly ca?: string | Uint8Array;
  /** Whether those who connect must show a certificate signed by `ca`. Default false. */
  readonly requireClientCertificate?: boolean;
}

export interface WebSocketNetworkOptions {
  readonly tls?: TlsOptions;
  /**
   * At least 16 characters, the same on all nodes and clients: whoever does not know it is refused at once.
   */
  readonly secret?: string;
  /** Frames above this close the connection that carries them. At most 16 MiB, which is the default. */
  readonly maxFrameBytes?: number;
  /** WebSocket connections that one listener holds at the same time. Default 1,000. */
  readonly maxConnections?: number;
  /**
   * How often a connection is asked for a sign of life (default 2,000 ms); it is given up after three without
   * one.
   */
  readonly pingIntervalMs?: number;
  /**
   * How long those who connect may take to say who they are, and a goodbye may take. Defaults 5,000 and 1,000
   * ms.
   */
  readonly handshakeTimeoutMs?: number;
  readonly closeTimeoutMs?: number;
  /** What a listener answers to plain HTTP requests. Default: sentences alone. */
  readonly pages?: Pages;
  /** Silent by default. */
  readonly logger?: Logger;
}

export interface ResolvedOptions {
  readonly tls: TlsOptions | undefined;
  readonly secret: string | undefined;
  readonly maxFrameBytes: number;
  readonly maxConnections: number;
  readonly pingIntervalMs: number;
  readonly handshakeTimeoutMs: number;
  readonly closeTimeoutMs: number;
  readonly pages: Pages | undefined;
  readonly logger: Logger;
}

/** Ping intervals without anything arriving after which a connection counts as dead. */
export const maxSilentIntervals = 3;

/** What both ends of every WebSocket are set to. `closeTimeout` is too new for the published types of ws. */
export function socketSettings(options: ResolvedOptions): {
  readonly perMessageDeflate: false;
  readonly maxPayload: number;
  readonly closeTimeout: number;
} {
  return {
    perMessageDeflate: false,
    maxPayload: options.maxFrameBytes + sealBytes,
    closeTimeout: options.closeTimeoutMs,
  };
}

const minSecretLength = 16;

export function resolveOptions(options: WebSocketNetworkOptions): ResolvedOptions {
  const resolved: ResolvedOptions = Object.freeze({
    tls: options.tls,
    secret: options.secret,
    maxFrameBytes: options.maxFrameBytes ?? maxFrameBytes,
    maxConnections: options.maxConnections ?? 5_000,
    pingIntervalMs: options.pingIntervalMs ?? 2_000,
    handshakeTimeoutMs: options.handshakeTimeoutMs ?? 5_000,
    closeTimeoutMs: options.closeTimeoutMs ?? 1_000,
    pages: options.pages,
    logger: options.logger ?? silentLogger,
  });
  checkRange("maxFrameBytes", resolved.maxFrameBytes, 1_024, maxFrameBytes);
  checkRange("maxConnections", resolved.maxConnections, 1, 100_000);
  checkRange("pingIntervalMs", resolved.pingIntervalMs, 10, 600_000);
  checkRange("handshakeTimeoutMs", resolved.handshakeTimeoutMs, 10, 600_000);
  checkRange("closeTimeoutMs", resolved.closeTimeoutMs, 10, 600_000);
  checkSecret(resolved.secret);
  checkTls(resolved.tls);
  return resolved;
}

/**
 * Refuses (`INVALID_OPTIONS`) an address off the loopback that strangers could speak to: it takes `wss://`
 * with a certificate, or a secret, or the word that this is meant. Also refuses `wss://` without certificate
 * and key.
 */
export function checkListenAddress(
  address: string,
  options: { readonly tls?: TlsOptions; readonly secret?: string; readonly insecure?: boolean },
): void {
  const { secure, host } = parseAddress(address);
  if (secure && (options.tls?.cert === undefined || options.tls.key === undefined)) {
    throw invalid(`To listen at ${address} takes a TLS certificate and its key.`);
  }
  if (secure || isLoopback(host) || options.secret !== undefined || options.insecure === true) return;
  throw invalid(
    `${address} can be reached from other machines, and who reaches it could read and change the data. ` +
      "Listen at a wss:// address with TLS, or give a shared secret, or say that it is meant to be insecure.",
  );
}

function checkRange(name: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  throw invalid(`${name} is ${value}, and must be a whole number from ${min} to ${max}.`);
}

function checkSecret(secret: string | undefined): void {
  if (secret === undefined || secret.length >= minSecretLength) return;
  const length = secret.length;
  throw invalid(`The shared secret has ${length} characters, and needs at least ${minSecretLength}.`);
}

const tlsNames: OptionNames<TlsOptions> = { cert: true, key: true, ca: true, requireClientCertificate: true };

function checkTls(tls: TlsOptions | undefined): void {
  refuseUnknownOptions(tls, { call: "tls", names: tlsNames });
  if (tls === undefined) return;
  if ((tls.cert === undefined) !== (tls.key === undefined)) {
    throw invalid("A TLS certificate and its key go together: give both or none.");
  }
  if (tls.requireClientCertificate === true && tls.ca === undefined) {
    throw invalid("To require certificates of clients takes the authority (ca) that signs them.");
  }
}

function invalid(message: string): QuorateError {
  return new QuorateError("INVALID_OPTIONS", message);
}
