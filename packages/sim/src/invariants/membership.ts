/**
 * Changes of membership: one at a time, none before the leader has committed an entry of its own term, each by way of
 * quorums that overlap, and nobody leads whom the voters did not elect (Dissertation §4; the bug of 2015 in the
 * single-server change).
 *
 * What is committed is known from the global history; what is in force on a member is the newest in its log.
 */
import {
  type Configuration,
  type ConfigurationAt,
  configurationOf,
  isJoint,
  isVoter,
  type Member,
  newestConfiguration,
  nodeIdOf,
  type RaftState,
  termAt,
} from "@quorate/raft";
import type { History, MemberHistory } from "./history.ts";
import { isQuorum } from "./quorums.ts";

/** A start of a member begins with what its log holds. */
export function beganWith(history: History, member: MemberHistory, { log }: RaftState): void {
  member.inForce = newestConfiguration(log);
  const first = log.configurations[0];
  if (history.configuration === undefined && first?.index === 0) history.settle(first);
}

/** After every step of a member, when all else of it was looked at. */
export function checkConfigurations(history: History, member: MemberHistory, state: RaftState): void {
  const inForce = newestConfiguration(state.log);
  const before = member.inForce;
  if (inForce === before || before === undefined) return;
  member.inForce = inForce;
  // One that stands in a snapshot is the same again, or newer.
  if (inForce.index <= before.index && inForce.index > state.log.boundary.index) {
    history.mark("configuration truncated");
  }
  if (state.role !== "leader") return;
  const { configurations } = state.log;
  for (const [at, one] of configurations.entries()) {
    const previous = configurations[at - 1];
    if (one.index > before.index && previous !== undefined) appended(history, state, previous, one);
  }
}

function appended(
  history: History,
  state: RaftState,
  previous: ConfigurationAt,
  next: ConfigurationAt,
): void {
  const leader = state.options.self;
  const noopIndex = state.leading?.noopIndex ?? 0;
  if (next.index < noopIndex) return; // it was there when this one began to lead
  history.require(
    previous.index <= state.commitIndex,
    "membership",
    () =>
      `${leader} appends the configuration ${next.index} while that at ${previous.index} is not committed`,
  );
  history.require(
    noopIndex <= state.commitIndex,
    "membership",
    () =>
      `${leader} appends the configuration ${next.index} before an entry of its term ${state.currentTerm} is committed`,
  );
  const fault = stepFault(previous.configuration, next.configuration);
  history.require(
    fault === undefined,
    "membership",
    () => `${leader} appends the configuration ${next.index}, which ${fault}`,
  );
  markAppended(history, state, previous, next);
}

/** What is wrong with going from one configuration straight to the other, if anything. */
function stepFault(previous: Configuration, next: Configuration): string | undefined {
  if (isJoint(previous)) {
    return isJoint(next) || differences(previous.voters, next.voters) > 0
      ? "is not the end of the joint one before it"
      : undefined;
  }
  if (isJoint(next)) {
    return differences(previous.voters, next.outgoing) > 0
      ? "is joint with others than the voters before it"
      : undefined;
  }
  const changed = differences(previous.voters, next.voters);
  return changed > 1 ? `changes ${changed} voters at once and is not joint` : undefined;
}

function differences(these: readonly Member[], those: readonly Member[]): number {
  return missingFrom(these, those) + missingFrom(those, these);
}

function missingFrom(these: readonly Member[], those: readonly Member[]): number {
  return those.filter(({ id }) => !these.some((other) => other.id === id)).length;
}

function markAppended(
  history: History,
  state: RaftState,
  previous: ConfigurationAt,
  { configuration }: ConfigurationAt,
): void {
  const leader = state.options.self;
  if (isJoint(configuration)) {
    history.mark("joint configuration");
    history.onPhase?.("jointAppended", leader);
  } else if (isJoint(previous.configuration)) {
    if (termAt(state.log, previous.index) !== state.currentTerm) history.mark("joint left by another leader");
    history.onPhase?.("leaveAppended", leader);
  }
  for (const { id, replaces } of previous.configuration.learners) {
    if (!configuration.voters.some((voter) => voter.id === id)) continue;
    history.mark("learner promoted");
    if (replaces === undefined) continue;
    const isSameNode = nodeIdOf(replaces) === nodeIdOf(id);
    history.mark(isSameNode ? "wiped node took its place again" : "member replaced");
  }
}

/** The entry at `index` was committed for the first time, on this member. */
export function committedConfiguration(
  history: History,
  member: MemberHistory,
  { log }: RaftState,
  index: number,
): void {
  const { configurations } = log;
  for (let at = configurations.length - 1; at >= 0; at -= 1) {
    const one = configurations[at] as ConfigurationAt;
    if (one.index < index) return;
    if (one.index > index) continue;
    history.settle(one);
    if (isJoint(one.configuration)) history.onPhase?.("jointCommitted", member.member);
  }
}

/** A new leader has the durable votes of a quorum of its configuration, and is not one that knows that it left. */
export function checkElected(history: History, member: MemberHistory, state: RaftState): void {
  const { log, currentTerm: term } = state;
  const inForce = configurationOf(log);
  history.require(
    isQuorum(inForce, (id) => history.members.get(id)?.votes.get(term) === member.member),
    "membership",
    () =>
      `${member.member} leads term ${term} without the votes of a quorum of the configuration ` +
      `${newestConfiguration(log).index}`,
  );
  // One whose removal it does not know to be committed may be needed to commit it (§4.2.2); it does not count itself.
  const known = knownCommitted(member, log.configurations);
  const may = log.configurations.some(
    ({ index, configuration }) => index >= known && isVoter(configuration, member.member),
  );
  history.require(
    may,
    "membership",
    () =>
      `${member.member} leads term ${term}, though it has no vote by the configuration ${known}, which it knows to be ` +
      "committed, nor by any after it",
  );
}

/** The index of the newest of these that the member knew to be committed when its last step began. */
function knownCommitted({ seenCommit }: MemberHistory, configurations: readonly ConfigurationAt[]): number {
  let newest = 0;
  for (const { index } of configurations) if (index <= seenCommit) newest = index;
  return newest;
}
