/**
 * The promises of those who change the membership. A change is over when a configuration that has it is committed and
 * no joint one is in force; a member that is still to be promoted comes later, and is not waited for.
 */
import type { MembershipOutcome, MembershipRefusal } from "../core/contract.ts";
import { type LogState, newestConfiguration, termAt } from "../core/log.ts";
import { isJoint } from "../core/quorum.ts";
import type { ConfigurationAt, Index, Term } from "../core/types.ts";
import { QuorateError } from "../errors.ts";
import { type Waiter, waiting } from "./waiters.ts";

interface Begun {
  readonly index: Index;
  /** Of the entry at `index`: another leader's may have taken its place. */
  readonly term: Term;
  readonly waiter: Waiter<ConfigurationAt>;
}

export class MembershipWaiters {
  #nextId = 1;
  readonly #asked = new Map<number, Waiter<ConfigurationAt>>();
  #begun: readonly Begun[] = [];

  request(signal: AbortSignal | undefined, start: (id: number) => void): Promise<ConfigurationAt> {
    const id = this.#nextId++;
    return waiting(signal, "unknown", (waiter) => {
      this.#asked.set(id, waiter);
      start(id);
    });
  }

  answered(outcome: MembershipOutcome): void {
    const waiter = this.#asked.get(outcome.id);
    if (waiter === undefined) return;
    this.#asked.delete(outcome.id);
    if (outcome.kind === "refused") waiter.reject(refusal(outcome.reason));
    else this.#begun = [...this.#begun, { index: outcome.index, term: outcome.term, waiter }];
  }

  /** Called after each turn: cheap while nobody waits. */
  progressed(log: LogState, commitIndex: Index): void {
    if (this.#begun.length === 0) return;
    const inForce = newestConfiguration(log);
    if (commitIndex < inForce.index || isJoint(inForce.configuration)) return;
    const isOver = ({ index, term }: Begun): boolean => index <= inForce.index && termAt(log, index) === term;
    const over = this.#begun.filter(isOver);
    this.#begun = this.#begun.filter((one) => !isOver(one));
    for (const { waiter } of over) waiter.resolve(inForce);
  }

  /** The change may go on under the next leader, or be overwritten by it. */
  leadershipLost(): void {
    const begun = this.#begun;
    this.#begun = [];
    for (const { waiter } of begun) {
      waiter.reject(
        new QuorateError(
          "PROPOSAL_LOST",
          "This node lost leadership while the change of membership was under way; the next leader goes on with it, " +
            "or it is gone. List the members to see.",
          { retryable: true, outcome: "unknown" },
        ),
      );
    }
  }

  /** The node ends. */
  end(error: (outcome: "none" | "unknown") => QuorateError): void {
    const waiters = [...this.#asked.values(), ...this.#begun.map(({ waiter }) => waiter)];
    this.#asked.clear();
    this.#begun = [];
    for (const waiter of waiters) waiter.reject(error("unknown"));
  }
}

const reasons: Readonly<Record<Exclude<MembershipRefusal, "notLeader">, string>> = {
  notReady: "The leader is new and has not committed anything yet. Try again in a moment.",
  changing: "Another change of membership is under way. Try again when it is over.",
  superseded: "The membership changed meanwhile: list the members, and decide again.",
  quorumSilent:
    "Of the voters that would be left, too few answer this leader to be a quorum: nothing could be committed any more. " +
    "Bring back those that are gone, or remove them first.",
  isMember: "It is a member already.",
  nameTaken: "A member of this name is there already: replace it, or remove it first.",
  unknownMember: "There is no such member.",
  unchanged: "It is already as asked for.",
  noVoterLeft: "That would leave the cluster without a voter.",
  tooManyMembers: "That would be more members than a cluster may have: 7 that vote and 8 learners.",
};

function refusal(reason: MembershipRefusal): QuorateError {
  if (reason === "notLeader") {
    return new QuorateError(
      "NOT_LEADER",
      "This node does not lead; only the leader changes the membership.",
      {
        retryable: true,
      },
    );
  }
  const retryable = reason === "notReady" || reason === "changing" || reason === "quorumSilent";
  return new QuorateError("CHANGE_REFUSED", reasons[reason], { retryable });
}
