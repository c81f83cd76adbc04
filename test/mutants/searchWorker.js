/** A worker thread of the search: takes the name of a mutant and a number of seeds, answers what was found. */
import { parentPort } from "node:worker_threads";
import { openSources } from "./openSources.js";

const { load } = await openSources();
const { searchSeeds } = await load("test/mutants/search.ts");
const { mutants } = await load("test/mutants/catalogue.ts");

parentPort.on("message", ({ name, seeds }) => {
  const mutant = mutants.find((one) => one.name === name);
  searchSeeds(mutant, seeds).then(
    (searched) => parentPort.postMessage({ name, searched }),
    (error) => {
      // Out of the promise, so that it reaches who started this thread.
      setImmediate(() => {
        throw error;
      });
    },
  );
});
