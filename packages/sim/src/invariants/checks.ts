/**
 * Where the cluster reports what it sees, and every invariant is checked at the event that establishes it.
 *
 *   core steps ─────▶ roles, commits          log store ──▶ what is durable, what came back
 *   transport ──────▶ persisted before sent   machine ────▶ state-machine safety
 *
 * Costs are O(1) an event, amortised over entries. Must not change what it is shown.
 */
import {
  type Entry,
  type Event,
  isSnapshotting,
  type LogStore,
  type MemberId,
  newestConfiguration,
  type PeerMessage,
  type Standing,
  type StateMachine,
  type Transport,
} from "@quorate/raft";
import type { CoreObserver } from "@quorate/raft/internal";
import type { Damage } from "../faults/faultyCluster.ts";
import { Application } from "./application.ts";
import { checkCommit } from "./commits.ts";
import { CoreStep } from "./coreStep.ts";
import {
  beginsAt,
  born,
  installDurable,
  installStarted,
  reopened,
  writeDurable,
  writeStarted,
} from "./disk.ts";
import { checkRole } from "./elections.ts";
import type { History, MemberHistory } from "./history.ts";
import { markStep, markTransfer } from "./marks.ts";
import { beganWith, checkConfigurations } from "./membership.ts";
import { checkSending } from "./messages.ts";
import { SnapshotChecks } from "./snapshots.ts";

const endOfTurn: Event = { kind: "tick" };

export class Checks {
  readonly history: History;
  readonly application: Application;
  readonly snapshots: SnapshotChecks;

  constructor(history: History) {
    this.history = history;
    this.application = new Application(history);
    this.snapshots = new SnapshotChecks(history);
  }

  /** A process of this member has opened its log. */
  opened(standing: Standing, member: MemberId, damage: Damage): MemberHistory {
    const known = this.history.of(member);
    reopened(this.history, known, standing, damage);
    known.state = undefined;
    known.seenTerm = known.term;
    known.seenRole = "follower";
    known.isBorn = standing.kind === "born";
    known.matches.clear();
    beginsAt(known, standing.kind === "born" ? standing.restored.snapshot : undefined);
    known.leadsTerm = -1;
    known.inForce = undefined;
    return known;
  }

  /** Its process is gone. */
  ended(member: MemberHistory): void {
    member.state = undefined;
    member.leadsTerm = -1;
  }

  observer(name: string, member: MemberHistory): CoreObserver {
    const { history } = this;
    return {
      started: (state) => {
        member.state = state;
        beganWith(history, member, state);
        history.trace.observer?.stepped(name, state);
      },
      stepped: (state, event) => {
        history.trace.note(name, new CoreStep(event, state));
        markStep(history, member, state, event);
        checkRole(history, member, state);
        checkCommit(history, member, state, event);
        checkConfigurations(history, member, state);
        history.trace.observer?.stepped(name, state, event);
      },
      // At the end of its turn a leader goes on with a change of membership, which may commit and append.
      effectsTaken: (state, { snapshots, compactTo }) => {
        for (const { kind } of snapshots) markTransfer(history, member, kind);
        if (compactTo !== undefined) history.mark("log compacted");
        if (newestConfiguration(state.log) === member.inForce && state.role === member.seenRole) return;
        markStep(history, member, state, endOfTurn);
        checkRole(history, member, state);
        checkCommit(history, member, state, endOfTurn);
        checkConfigurations(history, member, state);
      },
    };
  }

  log(inner: LogStore, member: MemberHistory): LogStore {
    const { history } = this;
    return {
      identity: inner.identity,
      boot: inner.boot,
      get sequence() {
        return inner.sequence;
      },
      get standing() {
        return inner.standing;
      },
      get seen() {
        return inner.seen;
      },
      promise: (founder) => inner.promise(founder),
      async bear(birth) {
        const restored = await inner.bear(birth);
        born(history, member, restored);
        return restored;
      },
      async write(persist) {
        writeStarted(history, member, persist);
        await inner.write(persist);
        writeDurable(history, member);
      },
      read: (from, to, maxBytes) => inner.read(from, to, maxBytes),
      snapshots: this.snapshots.store(inner.snapshots, member),
      compact: (upTo) => inner.compact(upTo),
      async install(header) {
        installStarted(history, member, header);
        history.onSnapshot?.("installing", member.member);
        const restored = await inner.install(header);
        installDurable(history, member);
        member.restoring = header;
        return restored;
      },
      remember: (peer, seen) => inner.remember(peer, seen),
      quarantine: (reason) => inner.quarantine(reason),
      close: () => inner.close(),
    };
  }

  transport(inner: Transport, member: MemberHistory): Transport {
    return {
      start: (handlers) => inner.start(handlers),
      setPeers: (peers) => inner.setPeers(peers),
      send: (to, messages) => {
        for (const message of messages) this.sending(member, to, message);
        inner.send(to, messages);
      },
      close: () => inner.close(),
    };
  }

  /** A message leaves, whatever becomes of it. */
  sending(member: MemberHistory, to: MemberId, message: PeerMessage): void {
    checkSending(this.history, member, to, message);
    this.history.trace.observer?.sent(member.member, to, message);
  }

  /** `digest`: equal for equal states of the machine. `state`: shown to whoever follows what is applied. */
  machine<Result>(
    inner: StateMachine<Result>,
    member: MemberHistory,
    digest: () => string,
    state?: unknown,
  ): StateMachine<Result> {
    const apply = (entry: Entry): Result => {
      const result = inner.apply(entry);
      this.application.applies(member, entry, result, state);
      return result;
    };
    const { versions } = inner;
    const told = { apply, ...(versions === undefined ? {} : { versions }) };
    return isSnapshotting(inner) ? { ...told, ...this.snapshots.machine(inner, member, digest) } : told;
  }
}
