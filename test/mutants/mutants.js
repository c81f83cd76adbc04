/** `pnpm mutants`: see command.ts. */
import { openSources } from "./openSources.js";

const { load, close } = await openSources();
try {
  const { runCommand } = await load("test/mutants/command.ts");
  process.exitCode = await runCommand(process.argv.slice(2).filter((word) => word !== "--"));
} finally {
  await close();
}
