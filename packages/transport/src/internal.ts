/** @quorate/transport/internal: for sister packages and tests. */
export * from "./links.ts";
