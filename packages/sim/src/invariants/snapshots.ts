/**
 * Snapshot equivalence: a snapshot stands for committed entries and the configuration among them, a machine that was
 * restored from one is as every machine was after the same entry, and what is installed takes nothing back.
 */
import type {
  SnapshotHeader,
  SnapshotStore,
  Snapshotting,
  SnapshotWriter,
  StateMachine,
} from "@quorate/raft";
import type { History, MemberHistory } from "./history.ts";

export class SnapshotChecks {
  private readonly history: History;
  /** A hash of the state after each entry at which a snapshot was taken. */
  private readonly states = new Map<number, string>();

  constructor(history: History) {
    this.history = history;
  }

  /** Looks at what a node keeps of its own. */
  store(inner: SnapshotStore, member: MemberHistory): SnapshotStore {
    const { history } = this;
    const finished = (header: SnapshotHeader): void => this.taken(member, header);
    return {
      get kept() {
        return inner.kept;
      },
      get compactableTo() {
        return inner.compactableTo;
      },
      write: async (boundary, configuration) => {
        history.onSnapshot?.("taking", member.member);
        return watched(await inner.write(boundary, configuration), finished);
      },
      receive: (header) => {
        history.onSnapshot?.("receiving", member.member);
        return inner.receive(header);
      },
      read: (header, offset, maxBytes) => inner.read(header, offset, maxBytes),
      retain: (header) => inner.retain(header),
    };
  }

  /** Looks at what a machine gives for a snapshot, and takes from one. */
  machine(
    inner: StateMachine<unknown> & Snapshotting,
    member: MemberHistory,
    digest: () => string,
  ): Snapshotting {
    return {
      view: () => {
        this.viewed(member, digest());
        return inner.view();
      },
      restore: () => {
        const { add, finish } = inner.restore();
        return {
          add,
          finish: () => {
            finish();
            const { restoring } = member;
            member.restoring = undefined;
            if (restoring !== undefined) this.restored(member, restoring, digest());
          },
        };
      },
    };
  }

  /** The machine's state is looked at, after the last entry that it applied. The snapshot may outlive its process. */
  viewed(member: MemberHistory, digest: string): void {
    const index = member.appliedIndex;
    const known = this.states.get(index);
    if (known === undefined) this.states.set(index, digest);
    else if (known !== digest) {
      this.history.fail(
        "snapshot equivalence",
        `${member.member} takes a snapshot of entry ${index} whose state is not that of others after it`,
      );
    }
  }

  /** It is durable. */
  taken(member: MemberHistory, header: SnapshotHeader): void {
    const { history } = this;
    const { index } = header.boundary;
    history.mark("snapshot taken");
    member.hasOlderSnapshot = member.newestSnapshot > 0;
    member.newestSnapshot = index;
    this.checkHeader(member, header);
    history.require(
      member.log.length >= index,
      "snapshot equivalence",
      () => `${member.member} keeps a snapshot of entry ${index}, and its log ends at ${member.log.length}`,
    );
  }

  /** The machine has the state of the snapshot, at a start or in the place of an older state. */
  restored(member: MemberHistory, header: SnapshotHeader, digest: string): void {
    const { history } = this;
    const { index } = header.boundary;
    history.mark("machine restored from a snapshot");
    this.checkHeader(member, header);
    history.require(
      this.states.get(index) === digest,
      "snapshot equivalence",
      () => `${member.member} restores a state from a snapshot of entry ${index} that nobody had after it`,
    );
    history.require(
      index > member.appliedIndex,
      "snapshot equivalence",
      () =>
        `${member.member} had applied ${member.appliedIndex} and goes back to a snapshot of entry ${index}`,
    );
    member.appliedIndex = index;
    member.newestSnapshot = index;
    member.hasOlderSnapshot = false;
  }

  private checkHeader(member: MemberHistory, { boundary, configuration }: SnapshotHeader): void {
    const { history } = this;
    const committed = history.committed[boundary.index - 1];
    history.require(
      committed?.term === boundary.term,
      "snapshot equivalence",
      () =>
        `${member.member} has a snapshot of entry ${boundary.index} of term ${boundary.term}, where ` +
        (committed === undefined ? "nothing was committed" : `one of term ${committed.term} was committed`),
    );
    const inForce = history.configurationAt(boundary.index);
    history.require(
      inForce === undefined || inForce.index === configuration.index,
      "snapshot equivalence",
      () =>
        `${member.member} has a snapshot of entry ${boundary.index} with the configuration ${configuration.index}; ` +
        `in force there is that of ${inForce?.index}`,
    );
  }
}

function watched(inner: SnapshotWriter, finished: (header: SnapshotHeader) => void): SnapshotWriter {
  return {
    boundary: inner.boundary,
    write: (chunk) => inner.write(chunk),
    async finish() {
      const header = await inner.finish();
      finished(header);
      return header;
    },
    abort: () => inner.abort(),
  };
}
