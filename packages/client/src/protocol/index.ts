/** The words that client and server share. Pure. */
export { answerBytes } from "./answerBytes.ts";
export { ByteReader } from "./byteStreams.ts";
export * from "./commandCodec.ts";
export * from "./commands.ts";
export * from "./failures.ts";
export { grantEnds } from "./leaseCodec.ts";
export * from "./leaseCommands.ts";
export type * from "./leases.ts";
export * from "./limits.ts";
export * from "./requestCodec.ts";
export type * from "./requests.ts";
export * from "./responseCodec.ts";
export * from "./resultCodec.ts";
export * from "./storeLimits.ts";
export * from "./transactions.ts";
export { unreachable } from "./unreachable.ts";
export * from "./utf8.ts";
export * from "./watches.ts";
