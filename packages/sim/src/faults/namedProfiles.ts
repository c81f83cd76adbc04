/**
 * Characters of runs by name, for `quorate sim --profile`. What a profile leaves open is drawn from the seed, so that
 * seeds differ under a named profile too.
 */
import { calmWire } from "../network/paths.ts";
import { calmProfile, type Profile } from "./profile.ts";

export const profileNames = [
  "swarm",
  "calm",
  "network",
  "partitions",
  "disks",
  "crashes",
  "pauses",
  "transfers",
  "clocks",
  "membership",
  "churn",
  "leases",
] as const;

export type ProfileName = (typeof profileNames)[number];

export interface NamedProfile {
  readonly about: string;
  readonly profile: Partial<Profile>;
}

export const namedProfiles: Readonly<Record<ProfileName, NamedProfile>> = {
  swarm: {
    about: "everything is drawn from the seed, and each kind of fault may be off (the default)",
    profile: {},
  },
  calm: { about: "nothing goes wrong", profile: calmProfile },
  network: {
    about:
      "frames lost, repeated, reordered, replayed late and damaged; partitions, clogged and flapping paths",
    profile: {
      wire: {
        ...calmWire,
        meanDelayMs: 4,
        loss: 0.1,
        duplication: 0.2,
        reordering: 0.3,
        lateReplay: 0.002,
        swapping: 0.1,
        corruption: 0.002,
      },
      faults: { partition: 2, lossyPath: 2, clog: 2, swizzleClog: 1, flapping: 1, clientCut: 1 },
      meanFaultGapMs: 500,
    },
  },
  partitions: {
    about: "partitions of every shape, one after the other, on a sound network",
    profile: { wire: calmWire, faults: { partition: 1 }, meanFaultGapMs: 500 },
  },
  disks: {
    about:
      "slow, hanging, full and failing disks, rot, directories wiped or of others, and power cuts while they write",
    profile: {
      faults: {
        slowDisk: 3,
        slowReads: 1,
        hangingDisk: 3,
        fullDisk: 2,
        diskError: 3,
        rot: 1,
        wipe: 0.5,
        foreignDisk: 1,
        olderDisk: 0.5,
        crash: 3,
      },
      meanFaultGapMs: 400,
    },
  },
  crashes: {
    about: "killed processes and power cuts, of one node and of all at once",
    profile: { faults: { crash: 4, crashAtCall: 4, crashAll: 1, changedTimeouts: 1 }, meanFaultGapMs: 300 },
  },
  pauses: {
    about: "processes stand still and wake again, or are short of processor time",
    profile: { faults: { pause: 2, suspend: 1, starvation: 1 }, meanFaultGapMs: 300 },
  },
  clocks: {
    about: "clocks that drift by up to a half, leap forward, and stand still while a machine is suspended",
    profile: { clockDrift: 0.5, faults: { clockRate: 2, clockLeap: 1, suspend: 1 }, meanFaultGapMs: 300 },
  },
  transfers: {
    about: "storms of transfers of leadership, to nodes that are there, behind, down or unknown",
    profile: { faults: { transfer: 6, crash: 2, pause: 1, partition: 1 }, meanFaultGapMs: 200 },
  },
  membership: {
    about: "members come and go, learners are promoted, wiped nodes rejoin; crashes and partitions meanwhile",
    profile: {
      faults: { member: 8, crash: 3, crashAll: 0.2, partition: 2, pause: 1, transfer: 1 },
      spares: 2,
      meanFaultGapMs: 250,
    },
  },
  churn: {
    about:
      "membership, transfers and snapshots of every size at once; crashes at each step of a snapshot and of a change",
    profile: {
      faults: {
        member: 8,
        transfer: 3,
        crashAtSnapshot: 6,
        crashAtCall: 2,
        crash: 2,
        crashAll: 0.2,
        rotSnapshot: 1,
        partition: 2,
        pause: 1,
      },
      spares: 2,
      snapshotless: 0,
      meanFaultGapMs: 200,
    },
  },
  leases: {
    about:
      "clients that take leases, and wait, stand still, are cut off and die; leaders come and go meanwhile",
    profile: {
      wire: calmWire,
      clockDrift: 0,
      leaseClients: 3,
      faults: { crash: 4, pause: 3, partition: 3, transfer: 2 },
      meanFaultGapMs: 700,
      meanOperationGapMs: 50,
    },
  },
};
