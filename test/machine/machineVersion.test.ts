/** The version of the machine: what may be run, who raises it, and what becomes of one that is not known. */
import { type Command, machineVersion, versionOfProposal } from "@quorate/client/protocol";
import {
  applyEntry,
  hashState,
  NewerVersionError,
  restoreContent,
  type StoreState,
  viewOf,
  writeContent,
} from "@quorate/kv/machine";
import { describe, expect, it } from "vitest";
import { createLog, type Log, put } from "./log.ts";

function raise(log: Log, version: number, office: number = log.term): void {
  log.run({ kind: "raiseVersion", office, version });
}

function restoredFrom(state: StoreState): StoreState {
  const restoration = restoreContent();
  for (const piece of writeContent(viewOf(state), 20)) restoration.add(piece);
  return restoration.finish();
}

function tagsOf(state: StoreState): readonly (number | undefined)[] {
  return [...writeContent(viewOf(state))].slice(1).map((frame) => frame[0]);
}

describe("a command of a later version than the state's", () => {
  it("is malformed, as for a release that does not know it, and changes nothing until an entry raises the version", () => {
    const log = createLog();
    log.run(put("k", "v"));
    const digest = hashState(log.state);
    expect(log.run({ kind: "grantAtOnce" })).toEqual({
      kind: "malformed",
      reason: "The command is malformed: its command is unknown.",
    });
    expect(hashState(log.state)).toBe(digest);
    raise(log, 2);
    expect(log.run({ kind: "grantAtOnce" })).toEqual({ kind: "gracePeriod", forMs: 0 });
  });

  it("uses up no sequence of its session", () => {
    const log = createLog();
    const session = log.openSession();
    const origin = { session, sequence: 1, ackedBelow: 1 };
    expect(log.runIn(origin, { kind: "grantAtOnce" }).kind).toBe("malformed");
    raise(log, 2);
    expect(log.runIn(origin, { kind: "grantAtOnce" }).kind).toBe("gracePeriod");
    const next = { ...origin, sequence: 2 };
    const lost: Command = { kind: "loseLease", lease: { name: "x", term: 1 } };
    expect(log.runIn(next, lost).kind).toBe("malformed");
    raise(log, 3);
    expect(log.runIn(next, lost).kind).toBe("leaseNotHeld");
  });
});

describe("the version", () => {
  it("is raised by the leader of the term alone, and never lowered", () => {
    const log = createLog();
    log.term = 2;
    raise(log, 2, 1);
    expect(log.state.version).toBe(1);
    raise(log, 2);
    expect(log.state.version).toBe(2);
    raise(log, 1);
    expect(log.state.version).toBe(2);
  });

  it("is in the digest and, from the second on, in snapshots, before everything else", () => {
    const log = createLog();
    log.run(put("k", "v"));
    expect(tagsOf(log.state)).not.toContain(14);
    const before = hashState(log.state);
    raise(log, 2);
    expect(hashState(log.state)).not.toBe(before);
    expect(tagsOf(log.state)[0]).toBe(14);
    const restored = restoredFrom(log.state);
    expect(restored.version).toBe(2);
    expect(hashState(restored)).toBe(hashState(log.state));
  });

  it("that this release does not know is refused with a sentence, in the log and in a snapshot, and nothing changes", () => {
    const log = createLog();
    log.run(put("k", "v"));
    const digest = hashState(log.state);
    expect(() => raise(log, machineVersion + 1)).toThrow(NewerVersionError);
    expect(() => raise(log, machineVersion + 1)).toThrow(
      `is of version ${machineVersion + 1} of the state machine, and this release knows none above ${machineVersion}`,
    );
    expect(hashState(log.state)).toBe(digest);
    log.term = 2;
    expect(() => raise(log, machineVersion + 1, 1)).not.toThrow();
    log.state.version = machineVersion + 1;
    expect(() => restoredFrom(log.state)).toThrow(NewerVersionError);
  });
});

describe("the version of an encoded command", () => {
  it("is told by its number alone; one that is not known is of a later release", () => {
    expect(versionOfProposal(Uint8Array.of(1, 0, 0))).toBe(1);
    expect(versionOfProposal(Uint8Array.of(1, 21, 0, 2))).toBe(2);
    expect(versionOfProposal(Uint8Array.of(1, 22, 0, 2, 2))).toBe(1);
    expect(versionOfProposal(Uint8Array.of(1, 23, 0))).toBe(2);
    expect(versionOfProposal(Uint8Array.of(1, 24, 0))).toBe(3);
    expect(versionOfProposal(Uint8Array.of(1, 25, 0))).toBe(Number.POSITIVE_INFINITY);
    // What is no proposal at all is malformed for everybody.
    expect(versionOfProposal(Uint8Array.of(9, 24, 0))).toBe(1);
    expect(versionOfProposal(new Uint8Array(0))).toBe(1);
    const log = createLog();
    const entry = { index: 1, term: 1, kind: "command", data: Uint8Array.of(1, 25, 0) };
    expect(applyEntry(log.state, entry).kind).toBe("malformed");
  });
});
