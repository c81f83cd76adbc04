/** quorate/fencing/sql: a lease's term, checked by the database that the lease protects. */
export * from "@quorate/client/fencing/sql";
