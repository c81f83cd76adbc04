/** Only one of all that run this is inside at a time; what it writes under an older term is refused. */
import { connect } from "quorate";

const cluster = connect({ endpoints: ["ws://127.0.0.1:7101", "ws://127.0.0.1:7102", "ws://127.0.0.1:7103"] });

await cluster.lock("counter").run(async (lock) => {
  const before = await cluster.kv.get("example/counter");
  const count = Number(before?.value ?? 0) + 1;
  await cluster.kv.put("example/counter", count, { fence: lock });
  console.log(`counted to ${count} under term ${lock.term}`);
});
await cluster.close();
