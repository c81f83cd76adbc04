/** What an election may be told, checked with client-go's rules, and what becomes of it at the cluster. */
import { QuorateError } from "@quorate/raft";
import type { Value } from "../cluster.ts";
import type { LeaseOptions } from "../leaseApi.ts";
import { taken } from "../optionNames.ts";

export interface ElectionOptions {
  /** How long after its last sign of life a leader may be replaced. Default 15,000. */
  readonly leaseDurationMs?: number;
  /** How long a leader goes on without a confirmed renewal. Default 10,000. */
  readonly renewDeadlineMs?: number;
  /** Between renewals. Default 2,000. */
  readonly retryPeriodMs?: number;
  /** Who this candidate is, for people. Default: empty. */
  readonly candidate?: string;
  /** What everybody reads of it while it leads. */
  readonly data?: Value;
  /**
   * Who comes next: who came first (`fifo`, the default), who has the highest `priority`, or who has the oldest
   * `version`. In the last two, and with `preferredZones`, a leader that is not the best candidate is asked to hand
   * over (`lease.handoverSignal`).
   */
  readonly strategy?: "fifo" | "priority" | "oldest-version";
  /** For the strategy `priority`: an integer; higher ones lead. */
  readonly priority?: number;
  /** For the strategy `oldest-version`: `major.minor.patch`, at most 1023.1023.2047. */
  readonly version?: string;
  /** Where this candidate runs: text of at most 64 bytes. */
  readonly zone?: string;
  /**
   * Where the leader is to run, the best zone first, the same list for all candidates: whoever is in an earlier one
   * comes first, and within one the strategy decides. Default: zones make no difference.
   */
  readonly preferredZones?: readonly string[];
  /**
   * A leader that is not the best candidate is not only asked: it loses the role within `leaseDurationMs`, with the
   * reason `preempted`. Default false.
   */
  readonly preempt?: boolean;
}

const maxZones = 1_000;
/** client-go's: renewals are spread by as much. */
const jitterFactor = 1.2;

/** Throws `INVALID_OPTIONS` with the numbers. */
export function electionLease(options: ElectionOptions): LeaseOptions {
  const {
    leaseDurationMs = 15_000,
    renewDeadlineMs = 10_000,
    retryPeriodMs = 2_000,
  } = taken("cluster.election", options);
  for (const [name, value] of Object.entries({ leaseDurationMs, renewDeadlineMs, retryPeriodMs })) {
    if (!(Number.isFinite(value) && value >= 1)) {
      throw invalid(`${name} is ${value}; it has to be a number of milliseconds from 1`);
    }
  }
  if (leaseDurationMs <= renewDeadlineMs) {
    throw invalid(
      `leaseDurationMs (${leaseDurationMs}) must be greater than renewDeadlineMs (${renewDeadlineMs})`,
    );
  }
  if (renewDeadlineMs <= jitterFactor * retryPeriodMs) {
    throw invalid(
      `renewDeadlineMs (${renewDeadlineMs}) must be greater than ${jitterFactor} × retryPeriodMs (${retryPeriodMs})`,
    );
  }
  const { candidate, data, zone, preempt = false } = options;
  const rank = { ...rankOf(options), ...zoneRankOf(options) };
  if (preempt && rank.asksHandover !== true) {
    throw invalid(
      'To preempt needs a strategy other than "fifo", or preferredZones: otherwise nobody is better',
    );
  }
  return {
    ttlMs: leaseDurationMs,
    renewDeadlineMs,
    renewEveryMs: retryPeriodMs,
    ...rank,
    ...(preempt ? { preempts: true } : {}),
    ...(zone === undefined ? {} : { zone }),
    ...(candidate === undefined ? {} : { holder: candidate }),
    ...(data === undefined ? {} : { data }),
  };
}

type Rank = Pick<LeaseOptions, "preference" | "priority" | "asksHandover" | "version">;

function zoneRankOf({ zone, preferredZones }: ElectionOptions): Rank {
  if (preferredZones === undefined) return {};
  if (zone === undefined) throw invalid("preferredZones needs to know the zone of this candidate");
  if (new Set(preferredZones).size < preferredZones.length || preferredZones.length > maxZones) {
    throw invalid(`preferredZones has to list at most ${maxZones} zones, each once`);
  }
  const at = preferredZones.indexOf(zone);
  return { preference: at < 0 ? 0 : preferredZones.length - at, asksHandover: true };
}

function rankOf(options: ElectionOptions): Rank {
  const { strategy = "fifo", priority, version } = options;
  switch (strategy) {
    case "fifo":
      if (priority === undefined && version === undefined) return {};
      throw invalid('A priority or a version needs the strategy "priority" or "oldest-version"');
    case "priority":
      return { priority: priority ?? 0, asksHandover: true };
    case "oldest-version":
      return {
        priority: -versionNumber(version),
        asksHandover: true,
        ...(version === undefined ? {} : { version }),
      };
    default:
      throw invalid(`The strategy is ${String(strategy)}; it is "fifo", "priority" or "oldest-version"`);
  }
}

/** Later versions are larger. */
function versionNumber(version: string | undefined): number {
  const parts =
    /^(\d+)\.(\d+)\.(\d+)$/
      .exec(version ?? "")
      ?.slice(1)
      .map(Number) ?? [];
  const [major = -1, minor = -1, patch = -1] = parts;
  if (major < 0 || major > 1_023 || minor > 1_023 || patch > 2_047) {
    throw invalid(
      `The version is ${String(version)}; it has to be major.minor.patch, at most 1023.1023.2047`,
    );
  }
  return (major * 1_024 + minor) * 2_048 + patch;
}

function invalid(sentence: string): QuorateError {
  return new QuorateError("INVALID_OPTIONS", `${sentence}.`);
}
