/** One of all that run this leads; when it dies, another goes on. */
import { connect } from "quorate";

const cluster = connect({ endpoints: ["ws://127.0.0.1:7101", "ws://127.0.0.1:7102", "ws://127.0.0.1:7103"] });

await cluster.election("example").lead(async (lease) => {
  for (let step = 1; step <= 3; step += 1) {
    lease.check();
    console.log(`step ${step} under term ${lease.term}`);
  }
});
await cluster.close();
