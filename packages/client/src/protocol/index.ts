/** The words that client and server share. Pure. */
export * from "./commands.ts";
export type * from "./requests.ts";
