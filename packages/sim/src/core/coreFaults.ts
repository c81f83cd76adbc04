/** Which kinds of faults there are for bare cores. A kind that is not listed does not compile. */
import type { FaultKind } from "../faults/fault.ts";
import type { Profile } from "../faults/profile.ts";

const strikes: Readonly<Record<FaultKind, boolean>> = {
  clog: true,
  swizzleClog: true,
  flapping: true,
  // Clients speak to a core without a wire between.
  clientCut: false,
  crash: true,
  crashAll: true,
  pause: true,
  transfer: true,
  partition: true,
  lossyPath: true,
  slowDisk: true,
  hangingDisk: true,
  diskError: true,
  rot: true,
  rotSnapshot: true,
  // Ports, options, clocks and identities of processes are those of whole nodes.
  crashAtCall: false,
  crashAtSnapshot: false,
  starvation: false,
  changedTimeouts: false,
  clockRate: false,
  clockLeap: false,
  suspend: false,
  fullDisk: false,
  slowReads: false,
  foreignDisk: false,
  olderDisk: false,
  // Who comes back without a directory has to be born again, and birth is no part of the core.
  wipe: false,
  // Nor is it told to whom else it belongs: a bare core has no birth, and joins nothing.
  member: false,
};

export function strikesCores(kind: FaultKind): boolean {
  return strikes[kind];
}

/** Without the faults that a bare core cannot suffer. */
export function coreProfile(profile: Profile): Profile {
  const faults = Object.fromEntries(
    Object.entries(profile.faults).filter(([kind]) => strikesCores(kind as FaultKind)),
  );
  return { ...profile, faults };
}
