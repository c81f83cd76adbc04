/** quorate/fencing: what a resource outside the store needs to refuse a holder that lost its lease. */
export * from "@quorate/client/fencing";
