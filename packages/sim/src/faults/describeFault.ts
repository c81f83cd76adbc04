/** A fault in words, for the trace and for the page of a run. */
import { unreachable } from "@quorate/raft";
import type { Fault, MemberStep, Path } from "./fault.ts";

export function describeFault(fault: Fault): string {
  return `${sentence(fault)} for ${fault.forMs} ms`;
}

function sentence(fault: Fault): string {
  switch (fault.kind) {
    case "partition":
      return `partition (${fault.shape}) ${fault.cuts.map(([from, to]) => `${from}↛${to}`).join(" ")}`;
    case "lossyPath":
      return `${fault.from}→${fault.to} loses ${Math.round(fault.loss * 100)} %`;
    case "clog":
      return `${fault.from}→${fault.to} is clogged`;
    case "swizzleClog":
      return `clogged ${arrows(fault.stops)}, and carrying again ${arrows(fault.releases)}, one by one`;
    case "flapping":
      return `${arrows(fault.paths)} flapping`;
    case "clientCut":
      return `${fault.node} and its clients lose ${fault.lost === "both" ? "requests and replies" : fault.lost}`;
    case "crash":
      return `${fault.node} ${fate(fault.silent)}${fault.whenWriting ? " while it writes" : ""}`;
    case "crashAll":
      return `all nodes ${fault.silent ? "lose power" : "are killed"}`;
    case "pause":
      return `${fault.node} stands still`;
    case "crashAtCall":
      return `${fault.node} ${fate(fault.silent)} at its call ${fault.calls}, and is down`;
    case "crashAtSnapshot":
      return `whoever is next at ${fault.phase} a snapshot ${fate(fault.silent)} at call ${fault.calls} of it, and is down`;
    case "starvation":
      return `${fault.node} is short of processor time (${fault.eventMs} ms an event)`;
    case "changedTimeouts":
      return `${fault.node} gets timeouts of ${fault.electionTimeoutMinMs} to ${fault.electionTimeoutMaxMs} ms, and is down`;
    case "clockRate":
      return `the clock of ${fault.node} runs at ${fault.rate}`;
    case "clockLeap":
      return `the clock of ${fault.node} leaps forward`;
    case "suspend":
      return `the machine of ${fault.node} is suspended`;
    case "fullDisk":
      return `the disk of ${fault.node} is full`;
    case "slowReads":
      return `${fault.node} reads slowly (${fault.meanLatencyMs} ms in the mean)`;
    case "foreignDisk":
      return `${fault.node} has a copy of the directory of ${fault.from}`;
    case "olderDisk":
      return `${fault.node} starts anew, and will find itself with its present directory after being up`;
    case "slowDisk":
      return `${fault.node} writes slowly (${fault.meanLatencyMs} ms in the mean)`;
    case "hangingDisk":
      return `the disk of ${fault.node} hangs`;
    case "diskError":
      return `the next write of ${fault.node} fails; it stops`;
    case "rot":
      return `${fault.node} is killed, some of its batches rot, and it is down`;
    case "rotSnapshot":
      return `${fault.node} is killed, its newest snapshot is damaged, and it is down`;
    case "wipe":
      return `${fault.node} is killed, its directory is wiped, and it is down`;
    case "transfer": {
      const whom = fault.target === "" ? "whom it likes" : fault.target;
      return `the leader is asked ${fault.times} times to hand over to ${whom}`;
    }
    case "member": {
      const crash = fault.crashAt === "never" ? "" : `, and its leader is killed at ${fault.crashAt}`;
      return `the membership changes: ${fault.steps.map(stepWords).join(", ")}${crash}`;
    }
    default:
      return unreachable(fault);
  }
}

function stepWords(step: MemberStep): string {
  return step.action === "replace" ? `${step.node} replaces ${step.of}` : `${step.action} ${step.node}`;
}

function fate(isSilent: boolean): string {
  return isSilent ? "loses power" : "is killed";
}

function arrows(paths: readonly Path[]): string {
  return paths.map(([from, to]) => `${from}→${to}`).join(" ");
}
