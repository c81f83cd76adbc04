/** @quorate/raft/internal: for sister packages, simulators and tests. No promise of stability. */
export type { CoreObserver } from "./node/coreDriver.ts";
