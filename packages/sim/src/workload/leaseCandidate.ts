/**
 * One client that wants one lease, for the liveness phase: the shipped client, in a process of its own. It asks once,
 * waits, holds until it is told to go, and knows whether it lost what it had.
 */
import type { Cluster, Lease } from "@quorate/client";
import { QuorateError } from "@quorate/raft";
import type { SimulatedCluster } from "../cluster/cluster.ts";
import type { SimulatedProcess } from "../world/process.ts";
import { depart } from "./departure.ts";

export interface ConnectedClient {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly cluster: Cluster;
  readonly sessionTtlMs: number;
}

export class LeaseCandidate {
  readonly name: string;
  readonly ttlMs: number;
  private readonly client: ConnectedClient;
  private readonly site: SimulatedCluster;
  private lease: Lease | undefined;
  /** Why its acquire came to nothing. */
  private refusal: string | undefined;

  constructor(site: SimulatedCluster, client: ConnectedClient) {
    this.site = site;
    this.client = client;
    this.name = client.name;
    this.ttlMs = client.sessionTtlMs;
  }

  get isHolder(): boolean {
    return this.lease !== undefined && this.lease.remainingMs() > 0;
  }

  /** What became of it, in words: undefined as long as it waits or holds. */
  get loss(): string | undefined {
    if (this.refusal !== undefined) return this.refusal;
    if (this.lease === undefined || this.isHolder) return undefined;
    return `${this.lease.status}, under term ${this.lease.term}`;
  }

  /** Asks for `lease`, and waits for as long as `timeoutMs`. */
  ask(lease: string, timeoutMs: number): void {
    void this.acquire(lease, timeoutMs);
  }

  /** As the leader's store has it: it waits for `lease` behind another. */
  isQueued(lease: string): boolean {
    const leader = this.site.leader();
    const { queue } = leader?.running?.store?.host.store.leases.get(lease) ?? {};
    return queue?.some(({ holder }) => holder === this.name) === true;
  }

  /** Its process dies; `isSilent`: nobody sees its connections close. */
  vanish(isSilent: boolean): void {
    depart(this.site, this.client, "lease client", false, isSilent);
  }

  leave(): void {
    depart(this.site, this.client, "lease client", true, false);
  }

  private async acquire(lease: string, timeoutMs: number): Promise<void> {
    const { cluster } = this.client;
    try {
      this.lease = await cluster.lease.acquire(lease, { ttlMs: this.ttlMs, holder: this.name, timeoutMs });
    } catch (error) {
      if (!(error instanceof QuorateError)) throw error;
      this.refusal = error.code;
    }
  }
}
