/**
 * How the process of a node takes memory from the system, where the C library is glibc: others read none of this.
 *
 * Left to itself, glibc learns from the first large piece that is freed to cut such pieces out of its heap from then
 * on, and keeps the gaps that they leave: the memory that a restored snapshot or a time of many writes took stays with
 * the process, and comes on top of what it needs later. A service that embeds a node decides for itself.
 */

/** Pieces of half a MiB, which most slabs of a store are larger than, come from the system and go back to it. */
const settings: Readonly<Record<string, string>> = {
  MALLOC_MMAP_THRESHOLD_: "524288",
  MALLOC_TRIM_THRESHOLD_: "4194304",
};

/** For the start of the process: later is too late. What its user has decided stays. */
export function nodeEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { GLIBC_TUNABLES: tunables } = environment;
  return tunables?.includes("glibc.malloc") ? environment : { ...settings, ...environment };
}
