/**
 * Leases and what belongs to them, in sections of their own:
 *
 *   silences      of sessions that have any: id, renewals, silentMs, version
 *   attachments   of sessions to keys: session, key
 *   leases        in the order of their names: name, term, transitions, changed, delayMs
 *   acquisitions  each once: the grant or the place that it is for all of its names
 */
import {
  type ByteReader,
  type ByteString,
  type Candidacy,
  type Format,
  isPlainCandidacy,
  type LeaseEnding,
  maxCandidateWordBytes,
  maxHolderBytes,
  maxKeyBytes,
  maxLeaseDataBytes,
  maxLeaseNameBytes,
  maxNamesAtOnce,
  plainCandidacy,
} from "@quorate/client/protocol";
import { idleKey, isFree } from "../leaseQueues.ts";
import { type Acquisition, comesBefore } from "../leaseState.ts";
import { addToDigest, takeFromDigest } from "../pairsDigest.ts";
import type { StoreState } from "../storeState.ts";
import type { ContentWriter } from "./contentWriter.ts";
import { readValue } from "./readValue.ts";
import type { StateSection } from "./sections.ts";

/** By their numbers in the content: only ever add at the end. */
const formats: readonly Format[] = ["bytes", "text", "json"];
const endings: readonly LeaseEnding[] = ["none", "revoked", "preempted"];

const isClaimed = 1;
const isHandover = 2;
const isBroken = 4;
/** What it says of itself comes after the rest. */
const isCandidate = 8;

export const silencesSection: StateSection = {
  tag: 5,
  name: "silences",
  *write(view, out) {
    for (const [id, { renewals, silentMs, version }] of view.sessions.entries()) {
      if (renewals === 0 && silentMs === 0 && version === 0) continue;
      for (const number of [id, renewals, silentMs, version]) out.varint(number);
      yield;
    }
  },
  restore(state) {
    return {
      item(input) {
        const session = state.sessions.get(input.varint("session"));
        const renewals = input.varint("renewals");
        const silentMs = input.varint("silence");
        const version = input.varint("version");
        if (session === undefined) input.fail("a silence is of no session");
        else Object.assign(session, { renewals, silentMs, version });
      },
      end: () => {},
    };
  },
};

export const attachmentsSection: StateSection = {
  tag: 6,
  name: "attachments",
  *write(view, out) {
    for (const [id, { keys }] of view.sessions.entries()) {
      for (const key of keys) {
        out.varint(id);
        out.byteString(key);
        yield;
      }
    }
  },
  restore(state) {
    return {
      item(input) {
        const id = input.varint("session");
        const key = input.byteString("key", maxKeyBytes);
        const pair = state.pairs.get(key);
        const session = state.sessions.get(id);
        if (pair === undefined || session === undefined) {
          input.fail("an attachment is of no session, or of no key");
          return;
        }
        const attached = { ...pair, session: id };
        takeFromDigest(state.digest, pair);
        addToDigest(state.digest, attached);
        state.pairs.set(key, attached);
        session.keys.add(key);
      },
      end: () => {},
    };
  },
};

export const leasesSection: StateSection = {
  tag: 7,
  name: "leases",
  *write(view, out) {
    for (const { name, term, transitions, changed, delayMs } of view.leases.values()) {
      out.byteString(name);
      for (const number of [term, transitions, changed, delayMs]) out.varint(number);
      yield;
    }
  },
  restore(state) {
    return {
      item(input) {
        const name = input.byteString("name", maxLeaseNameBytes);
        const term = input.varint("term");
        const transitions = input.varint("transitions");
        const changed = input.varint("changed");
        const delayMs = input.varint("delayMs");
        const lease = { name, term, transitions, changed, grant: undefined, queue: [], delayMs, past: [] };
        if (!state.leases.set(name, lease)) input.fail("it has a lease twice");
        // Where something of it is waited for or held, that comes with the acquisitions.
        if (isFree(lease)) state.idleLeases.set(idleKey(lease), name);
      },
      end: () => {},
    };
  },
};

export const acquisitionsSection: StateSection = {
  tag: 8,
  name: "acquisitions",
  *write(view, out) {
    for (const { name, grant, queue } of view.leases.values()) {
      for (const acquisition of grant === undefined ? queue : [grant, ...queue]) {
        if (acquisition.names[0] !== name) continue;
        writeAcquisition(out, acquisition);
        yield;
      }
    }
  },
  restore(state) {
    const queues = new Map<ByteString, Acquisition[]>();
    return {
      item(input) {
        const acquisition = readAcquisition(input);
        if (input.problem === undefined) add(state, queues, acquisition, input);
      },
      end() {
        for (const [name, queue] of queues) {
          const lease = state.leases.get(name);
          if (lease === undefined) continue;
          queue.sort((a, b) => (comesBefore(a, b) ? -1 : 1));
          state.leases.set(name, { ...lease, queue });
        }
      },
    };
  },
};

function add(
  state: StoreState,
  queues: Map<ByteString, Acquisition[]>,
  acquisition: Acquisition,
  input: ByteReader,
): void {
  const session = state.sessions.get(acquisition.session);
  session?.acquisitions.set(acquisition.sequence, acquisition);
  for (const name of acquisition.names) {
    const lease = state.leases.get(name);
    if (lease === undefined || session === undefined) {
      input.fail("an acquisition is of no lease, or of no session");
      return;
    }
    state.idleLeases.delete(idleKey(lease));
    if (acquisition.term > 0) state.leases.set(name, { ...lease, grant: acquisition });
    else {
      const queue = queues.get(name) ?? [];
      queue.push(acquisition);
      queues.set(name, queue);
    }
  }
}

function writeAcquisition(out: ContentWriter, acquisition: Acquisition): void {
  const { session, sequence, ticket, priority, names, breakAfterMs, candidate } = acquisition;
  const { preference, version, zone } = candidate;
  const isPlain = isPlainCandidacy(candidate);
  for (const number of [session, sequence, ticket, acquisition.lockDelayMs, acquisition.term])
    out.varint(number);
  out.value(priority);
  out.varint(names.length);
  for (const name of names) out.byteString(name);
  out.byteString(acquisition.holder);
  out.run(acquisition.data);
  out.byte(formats.indexOf(acquisition.format));
  out.byte(endings.indexOf(acquisition.ending));
  out.byte(
    (acquisition.claimed ? isClaimed : 0) +
      (acquisition.handover ? isHandover : 0) +
      (breakAfterMs === undefined ? 0 : isBroken) +
      (isPlain ? 0 : isCandidate),
  );
  out.varint(breakAfterMs ?? 0);
  if (isPlain) return;
  out.varint(preference);
  for (const word of [version, zone]) out.byteString(word);
}

function readAcquisition(input: ByteReader): Acquisition {
  const session = input.varint("session");
  const sequence = input.varint("sequence");
  const ticket = input.varint("ticket");
  const lockDelayMs = input.varint("lock delay");
  const term = input.varint("term");
  const priority = readValue(input);
  if (typeof priority !== "number") input.fail("its priority is no number");
  const count = input.varint("number of names");
  if (count < 1 || count > maxNamesAtOnce) input.fail("an acquisition has no names, or too many");
  const names: ByteString[] = [];
  while (names.length < count && input.problem === undefined) {
    names.push(input.byteString("name", maxLeaseNameBytes));
  }
  const holder = input.byteString("holder", maxHolderBytes);
  const data = input.run("data", maxLeaseDataBytes);
  const format = formats[input.byte("format")];
  const ending = endings[input.byte("ending")];
  if (format === undefined || ending === undefined) input.fail("a format or an ending is unknown");
  const flags = input.byte("flags");
  const afterMs = input.varint("break delay");
  const candidate = (flags & isCandidate) === 0 ? plainCandidacy : readCandidacy(input);
  return {
    session,
    sequence,
    ticket,
    names,
    priority: typeof priority === "number" ? priority : 0,
    candidate,
    holder,
    data,
    format: format ?? "bytes",
    lockDelayMs,
    term,
    claimed: (flags & isClaimed) !== 0,
    ending: ending ?? "none",
    breakAfterMs: (flags & isBroken) === 0 ? undefined : afterMs,
    handover: (flags & isHandover) !== 0,
  };
}

function readCandidacy(input: ByteReader): Candidacy {
  return {
    preference: input.varint("preference"),
    version: input.byteString("version", maxCandidateWordBytes),
    zone: input.byteString("zone", maxCandidateWordBytes),
  };
}
