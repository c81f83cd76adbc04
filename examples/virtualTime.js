/** An election through a leader that stands still, in virtual time: no cluster runs, and half a minute takes no time. */
import { virtualCluster } from "@quorate/sim";

const durations = { leaseDurationMs: 4_000, renewDeadlineMs: 3_000, retryPeriodMs: 800 };

await virtualCluster({ nodes: 3, seed: 1 }, async (world) => {
  const led = [];
  const lead = (name) =>
    world
      .connect(name)
      .election("example", durations)
      .lead((lease) => {
        led.push(name);
        console.log(`${world.nowMs} ms: ${name} leads under term ${lease.term}`);
        return new Promise((resolve) => lease.signal.addEventListener("abort", resolve));
      });
  void lead("a");
  void lead("b");
  await world.until(() => led.length === 1);
  world.pause(led[0], 30_000);
  console.log(`${world.nowMs} ms: ${led[0]} stands still`);
  await world.until(() => led.length === 2);
});
