/** Bugs of membership and of handing leadership over. */
import { inFile, type Mutant, unsearched } from "../mutant.ts";

const core = "packages/raft/src/core";
const limits = inFile("test/core/membershipLimits.test.ts");
const transfer = inFile("test/core/transfer.test.ts");
const notDrawn = unsearched(
  "no operation of the simulated clients changes members or hands leadership over yet",
);

export const membership: readonly Mutant[] = [
  {
    name: "a joint configuration asks for a majority of its new voters alone",
    source: "CCF#3948",
    file: `${core}/quorum.ts`,
    find: "return hasMajority(voters, has) && (outgoing.length === 0 || hasMajority(outgoing, has));",
    replace: "return hasMajority(outgoing.length < 0 ? outgoing : voters, has);",
    killedBy: inFile("test/core/memberChange.test.ts")("asks a majority of each list, of values as of votes"),
    search: notDrawn,
  },
  {
    name: "a leader changes its members before it has committed in its term",
    source: "the bug of 2015 in the single-server change (raft-dev)",
    file: `${core}/membership.ts`,
    find: 'if (commitIndex < leading.noopIndex) return "notReady";',
    replace: 'if (commitIndex < 0) return "notReady";',
    killedBy: limits("is refused before the leader has committed in its own term (the bug of 2015)"),
    search: notDrawn,
  },
  {
    name: "a change of members begins while another is under way",
    source: "the dissertation, §4.1",
    file: `${core}/membership.ts`,
    find: 'if (commitIndex < index || isJoint(configuration)) return "changing";',
    replace: 'if (commitIndex < 0) return "changing";',
    killedBy: limits("is refused while another one is under way, joint phase included"),
    search: notDrawn,
  },
  {
    name: "a target of a transfer is told before everything is committed",
    source: "hashicorp/raft#581, etcd#12704",
    file: `${core}/transfer.ts`,
    find: "if (peer.match !== log.lastIndex || state.commitIndex !== log.lastIndex) return;",
    replace: "if (peer.match !== log.lastIndex) return;",
    killedBy: transfer("waits until everything is committed, so that no write is left without an outcome"),
    search: notDrawn,
  },
];
