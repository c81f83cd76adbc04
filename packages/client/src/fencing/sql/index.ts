/**
 * @quorate/client/fencing/sql: a lease's term, checked by the database that the lease protects. Depends on no driver:
 * whatever has `query(text, params)` fits.
 */
export type { FencedAct } from "../fencedAct.ts";
export { StaleTermError } from "../staleTermError.ts";
export type { SqlDialect, SqlStatement } from "./dialects.ts";
export type { SqlConnection } from "./driverAnswers.ts";
export type { GuardStatements } from "./guardStatements.ts";
export type { RowUpdate, RowUpdateStatements } from "./rowStatements.ts";
export { type SqlFence, type SqlFenceOptions, sqlFence } from "./sqlFence.ts";
