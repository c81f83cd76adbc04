/** The links over the real network and the real clock: three members that find, lose and find each other. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Listener, type NodeId, type PeerHello, systemClock, systemRandom } from "@quorate/raft";
import { createTransport, type PeerTransport, websocketNetwork } from "@quorate/transport";
import { afterEach, describe, expect, it } from "vitest";
import { closeAll, open } from "./tcp.ts";
import { deadline, heartbeat, member, nodeSide, type Seen, until } from "./world.ts";

afterEach(closeAll);

interface Member {
  readonly hello: PeerHello;
  readonly seen: Seen;
  readonly transport: PeerTransport;
  readonly listener: Listener;
  stop(): Promise<void>;
}

async function start(name: string, address = "ws://127.0.0.1:0", boot = 1): Promise<Member> {
  const network = websocketNetwork();
  const clock = systemClock();
  const transport = createTransport({ network, clock, random: systemRandom() });
  const listener = await network.listen(address, (hello) => transport.accept(hello));
  const shown: PeerHello = {
    member: member(name),
    clusterId: undefined,
    start: String(boot).padStart(16, "0"),
    boot,
    sequence: 1,
    address: listener.address,
    priority: 1,
    machine: 1,
  };
  const side = nodeSide(
    () => shown,
    () => undefined,
  );
  transport.start(side.handlers);
  const stop = async (): Promise<void> => {
    await Promise.all([transport.close(), listener.close()]);
  };
  open.push(stop);
  return { hello: shown, seen: side.seen, transport, listener, stop };
}

function meet(members: readonly Member[]): void {
  const targets = members.map(({ hello }) => ({
    nodeId: hello.member.slice(0, 1) as NodeId,
    addresses: [hello.address],
  }));
  for (const { transport } of members) transport.setPeers(targets);
}

describe("three members over WebSockets", () => {
  it("link to each other, carry frames, and link again after one of them was restarted.", async () => {
    const [a, b, c] = [await start("a"), await start("b"), await start("c")];
    meet([a, b, c]);
    await until(() => [a, b, c].every(({ seen }) => seen.linked.length === 2), "all links");
    for (let i = 0; i < 100; i += 1) a.transport.send(b.hello.member, [heartbeat(i)]);
    await until(() => b.seen.received.length === 100, "all frames");
    expect(b.seen.received.flatMap(({ messages }) => messages)).toEqual(
      Array.from({ length: 100 }, (_, i) => heartbeat(i)),
    );

    await c.stop();
    await until(() => a.seen.lost.length === 2 && b.seen.lost.length === 2, "the loss of c");
    expect(a.seen.lost).toEqual(Array.from({ length: 2 }, () => ({ peer: c.hello.member, cause: "remote" })));
    const again = await start("c", c.hello.address, 2);
    const beganMs = performance.now();
    meet([a, b, again]);
    await until(() => a.seen.linked.length === 3 && again.seen.linked.length === 2, "the links to c");
    // c dials a and b at once, and they dial back without waiting for their own turn.
    expect(performance.now() - beganMs).toBeLessThan(900);
    again.transport.send(a.hello.member, [heartbeat(7)]);
    await until(() => a.seen.received.at(-1)?.from === c.hello.member, "a frame of c");
    await deadline(Promise.all([a.stop(), b.stop(), again.stop()]));
  });
});

describe("the entry for simulators", () => {
  it("does not load ws, directly or through anything else of the package.", () => {
    const seen = new Set<string>();
    const packages = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const [, name] of readFileSync(file, "utf8").matchAll(/(?: from |\brequire\()"([^"]+)"/g)) {
        if (name?.startsWith(".")) visit(resolve(dirname(file), name));
        else packages.add(name ?? "");
      }
    };
    visit(fileURLToPath(new URL("../../packages/transport/src/links.ts", import.meta.url)));
    expect([...packages].sort()).toEqual(["@quorate/raft", "msgpackr/index-no-eval", "node:zlib"]);
  });
});
