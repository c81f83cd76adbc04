/** Says once, while a lease is waited for, that the cluster does not answer: such a wait looks like any other. */
import type { Cluster } from "@quorate/client";
import { quorateError } from "../exitCodes.ts";

/** A wait that is shorter asks nothing. */
const patienceMs = 1_000;

export class SilenceNotice implements Disposable {
  readonly #cluster: Cluster;
  readonly #name: string;
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(cluster: Cluster, name: string) {
    this.#cluster = cluster;
    this.#name = name;
    this.#timer = setTimeout(() => void this.#ask(), patienceMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#over.abort();
  }

  async #ask(): Promise<void> {
    try {
      await this.#cluster.lease.get(this.#name, { signal: this.#over.signal });
    } catch (error) {
      if (this.#over.signal.aborted) return;
      const why = quorateError(error)?.message ?? String(error);
      process.stderr.write(
        `quorate: still waiting for ${JSON.stringify(this.#name)}, and the cluster does not answer: ${why}\n`,
      );
    }
  }
}
