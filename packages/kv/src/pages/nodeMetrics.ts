/** What a node can be watched by, gathered when somebody asks; only what happened is counted as it happens. */
import { type ClusterMetrics, type Metric, metricsOf, type Sample } from "@quorate/client/internal";
import { type CommandResult, textOfByteString } from "@quorate/client/protocol";
import { type Clock, type NodeStatus, nodeIdOf, type RaftNode, type Role } from "@quorate/raft";
import { listLeases, pairCount, revision } from "../machine/index.ts";
import type { ClientServer } from "../server/clientServer.ts";
import type { MachineHost } from "../server/machineHost.ts";

export interface MetricSources {
  readonly raft: RaftNode<CommandResult>;
  readonly host: MachineHost;
  readonly server: ClientServer;
  readonly clock: Clock;
  /** Of the client in this process. */
  readonly metrics: () => ClusterMetrics;
}

const roles: readonly Role[] = ["follower", "preCandidate", "candidate", "leader"];
/** Leases that are told one by one; more would make the page grow with the data. */
const maxLeases = 1_000;

export class NodeMetrics {
  readonly #sources: MetricSources;
  #role: Role = "follower";
  #leaderSinceMs: number | undefined;
  #elections = 0;
  #electionsLost = 0;
  #leaderChanges = 0;
  #leader: string | undefined;
  #snapshots = { taken: 0, installed: 0, failed: 0 };

  /** Observes as long as the node lives. */
  constructor(sources: MetricSources) {
    this.#sources = sources;
    sources.raft.observe((event) => {
      switch (event.kind) {
        case "roleChanged":
          this.#roleChanged(event.role, event.leader);
          break;
        case "snapshotTaken":
          this.#snapshots.taken += 1;
          break;
        case "snapshotInstalled":
          this.#snapshots.installed += 1;
          break;
        case "snapshotFailed":
          this.#snapshots.failed += 1;
          break;
        default:
          break;
      }
    });
  }

  gather(): readonly Metric[] {
    const status = this.#sources.raft.status();
    return [
      ...this.#raft(status),
      ...this.#elected(),
      ...peers(status),
      ...this.#snapshotCounts(status),
      ...this.#store(),
      ...this.#leases(),
      ...metricsOf(this.#sources.metrics()),
    ];
  }

  #roleChanged(role: Role, leader: string | undefined): void {
    if (role === "candidate" && this.#role !== "candidate") this.#elections += 1;
    if (this.#role === "candidate" && role !== "leader" && role !== "candidate") this.#electionsLost += 1;
    if (role === "leader" && this.#role !== "leader") this.#leaderSinceMs = this.#sources.clock.nowMs();
    if (role !== "leader") this.#leaderSinceMs = undefined;
    if (leader !== undefined && leader !== this.#leader) {
      this.#leaderChanges += 1;
      this.#leader = leader;
    }
    this.#role = role;
  }

  #raft(status: NodeStatus): readonly Metric[] {
    return [
      {
        name: "raft_role",
        kind: "gauge",
        help: "1 for the role that this node has",
        samples: roles.map((role) => ({ labels: { role }, value: Number(role === status.role) })),
      },
      gauge("raft_term", "The term that this node is in", status.term),
      gauge("raft_has_leader", "1 where this node knows a leader", Number(status.leader !== undefined)),
      gauge(
        "raft_mute",
        "1 while this node may not vote, for what it had acknowledged is gone",
        Number(status.floor !== undefined),
      ),
      gauge("raft_last_index", "The last entry of the log", status.lastIndex),
      gauge("raft_durable_index", "The last entry on this node's disk", status.durableIndex),
      gauge("raft_commit_index", "The last entry known to be committed", status.commitIndex),
      gauge("raft_applied_index", "The last entry that the store has applied", status.appliedIndex),
      gauge("raft_compacted_index", "The log begins after this entry", status.compactedIndex),
      gauge(
        "raft_complaints",
        "Sentences that quorate status shows about this node",
        status.complaints.length,
      ),
    ];
  }

  #elected(): readonly Metric[] {
    const sinceMs = this.#leaderSinceMs;
    const tenureMs = sinceMs === undefined ? 0 : this.#sources.clock.nowMs() - sinceMs;
    return [
      gauge(
        "raft_leader_tenure_seconds",
        "For how long this node has led; 0 where it does not",
        tenureMs / 1_000,
      ),
      counter("raft_elections_started_total", "Elections that this node stood in", this.#elections),
      counter(
        "raft_elections_lost_total",
        "Elections that this node stood in and did not win",
        this.#electionsLost,
      ),
      counter("raft_leader_changes_total", "New leaders that this node has seen", this.#leaderChanges),
    ];
  }

  #snapshotCounts({ snapshot }: NodeStatus): readonly Metric[] {
    const { taken, installed, failed } = this.#snapshots;
    return [
      gauge(
        "raft_snapshot_index",
        "The last entry in the newest snapshot; 0 without one",
        snapshot?.index ?? 0,
      ),
      gauge("raft_snapshot_bytes", "The size of the newest snapshot", snapshot?.bytes ?? 0),
      counter("raft_snapshots_taken_total", "Snapshots that this node took", taken),
      counter(
        "raft_snapshots_installed_total",
        "Snapshots of a leader that this node put in place",
        installed,
      ),
      counter("raft_snapshots_failed_total", "Snapshots that came to nothing", failed),
    ];
  }

  #store(): readonly Metric[] {
    const { host, server } = this.#sources;
    return [
      gauge("store_revision", "The store's revision on this node", revision(host.store)),
      gauge("store_keys", "Keys in the store", pairCount(host.store)),
      gauge("store_sessions", "Sessions in the store", host.store.sessions.size),
      counter(
        "sessions_expired_total",
        "Sessions that ended by their silence, in entries that this process applied",
        server.sessionsExpired,
      ),
      gauge("server_connections", "Connections of clients to this node", server.connections),
      gauge(
        "server_requests_under_way",
        "Requests of clients that this node has not answered yet",
        server.requestsUnderWay,
      ),
    ];
  }

  #leases(): readonly Metric[] {
    const { host, server } = this.#sources;
    const { leases } = listLeases(host.store, { from: "", to: "" }, maxLeases);
    const each = (value: (lease: (typeof leases)[number]) => number): readonly Sample[] =>
      leases.map((lease) => ({ labels: { name: textOfByteString(lease.name) }, value: value(lease) }));
    return [
      gauge("store_leases", "Names of leases that the store knows", host.store.leases.size),
      {
        name: "lease_ends_total",
        kind: "counter",
        help: "Grants that are over, by how they ended, in entries that this process applied",
        samples: [...server.leaseEnds.counts].map(([end, value]) => ({ labels: { end }, value })),
      },
      {
        name: "lease_flapping",
        kind: "gauge",
        help: "1 for each lease that is lost again and again, on the leader",
        samples: server.leaseEnds.flapping
          .slice(-maxLeases)
          .map((name) => ({ labels: { name: textOfByteString(name) }, value: 1 })),
      },
      {
        name: "leader_election_master_status",
        kind: "gauge",
        help: "1 where the lease is held, by the name of the lease and its holder",
        samples: leases.map(({ name, holder, state }) => ({
          labels: { name: textOfByteString(name), holder: textOfByteString(holder) },
          value: Number(state === "held" || state === "ending"),
        })),
      },
      {
        name: "lease_term",
        kind: "gauge",
        help: "The fencing token of the last grant",
        samples: each(({ term }) => term),
      },
      {
        name: "lease_waiting",
        kind: "gauge",
        help: "Who waits for it",
        samples: each(({ waiting }) => waiting),
      },
      {
        name: "lease_transitions_total",
        kind: "counter",
        help: "How often it was granted",
        samples: each(({ transitions }) => transitions),
      },
    ];
  }
}

function peers({ peers: list }: NodeStatus): readonly Metric[] {
  const each = (value: (peer: (typeof list)[number]) => number): readonly Sample[] =>
    list.map((peer) => ({ labels: { peer: nodeIdOf(peer.member) }, value: value(peer) }));
  return [
    {
      name: "raft_peer_linked",
      kind: "gauge",
      help: "1 where a link to the peer stands",
      samples: each((peer) => Number(peer.linked)),
    },
    {
      name: "raft_peer_match_index",
      kind: "gauge",
      help: "What the leader knows the peer to have; 0 on other nodes",
      samples: each((peer) => peer.matchIndex ?? 0),
    },
  ];
}

function gauge(name: string, help: string, value: number): Metric {
  return { name, kind: "gauge", help, samples: [{ value }] };
}

function counter(name: string, help: string, value: number): Metric {
  return { name, kind: "counter", help, samples: [{ value }] };
}
