/**
 * Takes a snapshot of the whole store from one node, part by part. All parts come from that node and from one view:
 * another node, or the same after a restart, knows nothing of it, and then it has to be taken again.
 */
import { type Answer, type CallPolicy, senseless } from "./caller.ts";
import type { RequestOptions, StoreSnapshot } from "./cluster.ts";
import { type AskPorts, patienceOptions } from "./kv.ts";
import { memberList } from "./members.ts";
import type { RequestBody } from "./protocol/index.ts";

const policy: CallPolicy = {
  target: "home",
  resend: "always",
  hasEffect: false,
  advice: "take another snapshot",
};

export async function takeSnapshot(ports: AskPorts, options: RequestOptions): Promise<StoreSnapshot> {
  const taken = await ask(ports, { kind: "takeSnapshot" }, options);
  if (taken.kind !== "snapshotTaken") throw senseless("a snapshot", taken, "none");
  const { snapshot, index, term, revision, membership } = taken;
  let isBegun = false;
  async function* parts(): AsyncGenerator<Uint8Array, void> {
    for (let part = 0; ; part += 1) {
      const answer = await ask(ports, { kind: "snapshotPart", snapshot, part }, options);
      if (answer.kind !== "snapshotPart") throw senseless("a part of a snapshot", answer, "none");
      if (answer.bytes.length === 0) return;
      yield answer.bytes;
    }
  }
  return {
    index,
    term,
    revision,
    members: memberList(membership),
    content() {
      if (isBegun) throw new Error("The content of a snapshot is read once.");
      isBegun = true;
      return parts();
    },
  };
}

async function ask(
  { calls, caller, requestTimeoutMs }: AskPorts,
  body: RequestBody,
  options: RequestOptions,
): Promise<Answer> {
  const patient = patienceOptions(options, requestTimeoutMs);
  return (await calls.run(patient, (patience) => caller.call(body, policy, patience))).body;
}
