/** Three hosts, and the leader's wire is pulled: no connection is reset, nobody is told, packets only stop. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NodeProcess, quorateCommand } from "../process/rig/nodeProcess.ts";
import { until } from "../process/rig/waiting.ts";
import { OwnNetwork } from "./ownNetwork.ts";
import { whatIsMissing } from "./requirements.ts";

const port = 7101;
/** Off the loopback, nodes and clients prove that they know it. */
const secret = { QUORATE_SECRET: "a secret for three hosts" };
const ids = ["a", "b", "c"] as const;

interface Status {
  readonly leader: string | null;
  readonly term: number;
  readonly nodes: readonly {
    readonly id: string;
    readonly role: string;
    readonly appliedIndex: number | null;
  }[];
}

/** `quorate …` on one of the hosts, or on the switch. */
function quorate(
  network: OwnNetwork,
  host: string,
  ...words: readonly string[]
): { code: number | null; out: string } {
  const [command, ...rest] = network.on(host)([process.execPath, quorateCommand, ...words]);
  const { status, stdout } = spawnSync(command as string, rest, {
    encoding: "utf8",
    timeout: 20_000,
    env: { ...process.env, ...secret },
  });
  return { code: status, out: stdout };
}

function statusSeenFrom(network: OwnNetwork, host: string, endpoints: string): Status {
  const { out } = quorate(network, host, "status", "--json", "--timeout", "3s", "--endpoints", endpoints);
  return JSON.parse(out) as Status;
}

async function leaderAmong(network: OwnNetwork, among: readonly string[]): Promise<string> {
  const endpoints = among.map((id) => `ws://${network.addressOf(id)}:${port}`).join(",");
  return until(`one of ${among.join(", ")} leads`, () => {
    const { nodes, leader } = statusSeenFrom(network, "switch", endpoints);
    const leads = nodes.some(
      (node) => node.id === leader && node.role === "leader" && among.includes(node.id),
    );
    return leads && leader !== null ? leader : undefined;
  });
}

describe("a leader whose wire is pulled", () => {
  it("is replaced, acknowledges nothing, and follows when it is plugged in again", async ({ skip }) => {
    const missing = whatIsMissing(["ip"], true);
    if (missing !== undefined) skip(missing);
    using network = new OwnNetwork(ids);
    const directory = mkdtempSync(join(tmpdir(), "quorate-hosts-"));
    const endpoint = (id: string): string => `ws://${network.addressOf(id)}:${port}`;
    const peers = Object.fromEntries(ids.map((id) => [id, endpoint(id)]));
    const nodes = ids.map(
      (id) =>
        new NodeProcess({
          id,
          listen: endpoint(id),
          peers,
          dataDir: join(directory, id),
          wrap: network.on(id),
          environment: secret,
        }),
    );
    try {
      for (const node of nodes) node.start();
      const leader = await leaderAmong(network, ids);
      const others = ids.filter((id) => id !== leader);
      const endpoints = others.map(endpoint).join(",");
      expect(quorate(network, "switch", "put", "k", "1", "--endpoints", endpoints).code).toBe(0);

      network.unplug(leader);
      const alone = quorate(
        network,
        leader,
        "put",
        "k",
        "lost",
        "--timeout",
        "2s",
        "--endpoints",
        endpoint(leader),
      );
      expect(alone.code).toBe(3);
      const stale = quorate(network, leader, "get", "k", "--timeout", "2s", "--endpoints", endpoint(leader));
      expect(stale).toEqual({ code: 3, out: "" });
      await leaderAmong(network, others);
      expect(quorate(network, "switch", "put", "k", "2", "--endpoints", endpoints).code).toBe(0);

      network.plug(leader);
      await until("all three agree", () => {
        const { nodes: seen } = statusSeenFrom(network, "switch", Object.values(peers).join(","));
        const applied = new Set(seen.map((node) => node.appliedIndex));
        const roles = seen.map((node) => node.role).sort();
        return applied.size === 1 && roles.join() === "follower,follower,leader";
      });
      expect(quorate(network, leader, "get", "k", "--endpoints", endpoint(leader))).toEqual({
        code: 0,
        out: "2",
      });
    } finally {
      await Promise.all(nodes.map((node) => node.kill()));
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
