/** A leader is frozen for longer than an election takes, and thawed: it must not speak as if no time had passed. */
import { describe, expect, it } from "vitest";
import { Load } from "./rig/load.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { expectKept } from "./rig/verification.ts";
import { until } from "./rig/waiting.ts";

describe("a paused leader", () => {
  it("answers no stale read when it goes on, and acknowledges nothing that is lost", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const load = new Load({ clients: [await cluster.client()], prefix: "load/", perSecond: 100 });
    for (let round = 0; round < 5; round += 1) {
      await load.progress(20);
      const paused = await cluster.leader();
      const old = cluster.speaker(paused.id);
      await old.put("watched", `old ${round}`);
      const { term } = (await cluster.view(paused.id)) ?? { term: 0 };
      paused.signal("SIGSTOP");
      // These wait in the kernel, and are the first that it reads when it goes on.
      const reads = [1, 2, 3].map(() => old.get("watched", 20_000));
      const write = old.put(`late/${round}`, "late", 20_000);
      const successor = await until("another node leads", async () => {
        const others = cluster.nodes.filter((node) => node !== paused);
        const views = await Promise.all(others.map((node) => cluster.view(node.id)));
        return views.find((view) => view?.role === "leader" && view.term > term)?.id;
      });
      const written = await cluster.speaker(successor).put("watched", `new ${round}`);
      expect(written.kind).toBe("executed");
      paused.signal("SIGCONT");
      for (const answer of await Promise.all(reads)) {
        if (answer.kind === "got") {
          expect(Buffer.from(answer.pair?.value ?? []).toString()).toBe(`new ${round}`);
        } else expect(answer.kind).toBe("failed");
      }
      const late = await write;
      await cluster.healthy();
      const found = await cluster.readAll("a", "late/");
      if (late.kind === "executed") expect(found.has(`late/${round}`)).toBe(true);
      else expect(late.kind).toBe("failed");
    }
    await expectKept(cluster, await load.stop(), "load/");
  });

  it("among followers that are frozen costs nobody anything", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const leader = await cluster.leader();
    const { term } = (await cluster.view(leader.id)) ?? { term: -1 };
    const load = new Load({ clients: [await cluster.client([leader.id])], prefix: "load/", perSecond: 100 });
    const follower = cluster.nodes.find((node) => node !== leader);
    follower?.signal("SIGSTOP");
    await load.progress(100);
    follower?.signal("SIGCONT");
    await load.progress(50);
    await expectKept(cluster, await load.stop(), "load/");
    expect((await cluster.view(leader.id))?.term).toBe(term);
  });
});
