/**
 * @quorate/client/fencing: what a resource outside the store needs to refuse a holder that lost its lease. Loads
 * nothing of the client: a billing service that only checks terms imports this and no cluster.
 */
export type { FencedAct } from "./fencedAct.ts";
export { FencedResource, type FencedResourceOptions, type TermStore } from "./fencedResource.ts";
export { fileTermStore } from "./fileTermStore.ts";
export { termFrom, termHeader, termHeaders, termRefusal } from "./httpTerm.ts";
export { StaleTermError } from "./staleTermError.ts";
