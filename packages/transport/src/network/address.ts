/**
 * Addresses: `ws://host:port` or `wss://host:port`, nothing more. Pure: nothing is looked up here.
 */
import { QuorateError } from "@quorate/raft";
import { isAddress } from "../codec/fields.ts";

export interface Address {
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  /** 0, in an address to listen at: the system chooses. */
  readonly port: number;
}

const shape = /^(wss?):\/\/(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})\/?$/;

/** Throws `INVALID_ARGUMENT` with an example for anything else than an address. */
export function parseAddress(address: string): Address {
  const match = isAddress(address) ? shape.exec(address) : null;
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `${JSON.stringify(address)} is not an address: write it like ws://10.0.0.1:7101 or wss://host:7101.`,
    );
  }
  const host = match[2] as string;
  return {
    secure: match[1] === "wss",
    host: host.startsWith("[") ? host.slice(1, -1) : host,
    port,
  };
}

export function formatAddress(address: Address): string {
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return `${address.secure ? "wss" : "ws"}://${host}:${address.port}`;
}

/** Whether only this machine can reach the host: 127.0.0.0/8, ::1 or `localhost`. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
