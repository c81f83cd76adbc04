/** The code in the documentation compiles, and what is marked so runs, against a cluster of real processes. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allCodeBlocks, type CodeBlock } from "../docs/codeBlocks.ts";
import { filesBelow, root } from "../tidy/houseFiles.ts";
import { freePortBlock } from "./rig/ports.ts";
import { SupervisorProcess } from "./rig/supervisorProcess.ts";

const run = promisify(execFile);
const blocks = allCodeBlocks();
const programs = blocks.filter((block) => block.language === "ts");

/** Programs that run as they are. */
const examples = filesBelow(join(root, "examples")).filter(({ path }) => path.endsWith(".js"));

let folder: string;
let basePort: number;
let supervisor: SupervisorProcess;

/** The documentation names the default ports; a test has ports of its own. */
function onOwnPorts(text: string): string {
  return text.replace(/127\.0\.0\.1:710([1-5])/g, (_, last) => `127.0.0.1:${basePort + Number(last) - 1}`);
}

function fileOf(block: CodeBlock): string {
  return block.place.replace(/[^\w]+/g, "-");
}

beforeAll(async () => {
  basePort = await freePortBlock(5);
  supervisor = new SupervisorProcess(["--base-port", String(basePort), "--ephemeral"]);
  // Below test/, so that the packages are found as a program that depends on them finds them.
  folder = await mkdtemp(join(root, "test", "dist", "documentation-"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../../tsconfig.base.json",
      compilerOptions: {
        composite: false,
        declaration: false,
        declarationMap: false,
        isolatedDeclarations: false,
        outDir: "out",
      },
      include: ["*.ts"],
    }),
  );
  for (const block of programs) await writeFile(join(folder, `${fileOf(block)}.ts`), onOwnPorts(block.text));
  await supervisor.ready();
}, 60_000);

afterAll(async () => {
  await supervisor[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe("the code in the documentation", () => {
  it("is there", () => {
    expect(programs.filter((block) => block.run).length).toBeGreaterThan(1);
    expect(examples.length).toBeGreaterThan(1);
    expect(blocks.filter((block) => block.language === "sh" && block.run).length).toBeGreaterThan(1);
  });

  it("compiles under this project's own strict options", async () => {
    const tsc = join(root, "node_modules", ".bin", "tsc");
    const { stdout } = await run(tsc, ["-p", folder]).catch((error: { stdout: string }) => error);
    expect(stdout).toBe("");
  });

  it.each(programs.filter((block) => block.run).map((block) => [block.place, block] as const))(
    "runs, and ends, by itself or as it is asked to, as a program: %s",
    async (_place, block) => {
      const program = join(folder, "out", `${fileOf(block)}.js`);
      const running = run(process.execPath, [program], { timeout: 30_000, killSignal: "SIGKILL" });
      if (block.endsBy === "SIGTERM") running.child.stdout?.once("data", () => running.child.kill("SIGTERM"));
      const { stdout } = await running;
      expect(stdout).not.toBe("");
    },
  );

  it.each(examples.map(({ path, text }) => [path, text] as const))(
    "runs, and ends, as an example: %s",
    async (path, text) => {
      const program = join(folder, basename(path));
      await writeFile(program, onOwnPorts(text));
      const { stdout } = await run(process.execPath, [program], { timeout: 30_000 });
      expect(stdout).not.toBe("");
    },
  );

  it.each(
    blocks
      .filter((block) => block.language === "sh" && block.run)
      .map((block) => [block.place, block] as const),
  )("runs in a shell: %s", async (_place, block) => {
    const endpoints = [0, 1, 2].map((i) => `ws://127.0.0.1:${basePort + i}`).join(",");
    const environment = { ...process.env, QUORATE_ENDPOINTS: endpoints };
    const { stdout } = await run("bash", ["-euo", "pipefail", "-c", onOwnPorts(block.text)], {
      cwd: root,
      env: environment,
      timeout: 60_000,
    });
    expect(stdout).not.toBe("");
  });
});
