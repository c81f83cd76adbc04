/**
 * Runs named cases of the test suite, each on sources in which its mutant was put: one Vitest with a project a mutant,
 * so that a case costs no process of its own.
 */
import { join } from "node:path";
import { createVitest, type Reporter, type TestCase, type TestModule } from "vitest/node";
import type { Mutant } from "./mutant.ts";
import { fromSources, mutation, root } from "./sources.ts";

/** Of all cases together: ten times what they take on a machine that is not busy. */
const maxRunMs = 600_000;

export interface CaseOutcome {
  readonly mutant: Mutant;
  /** `missing`: no test of the file has the title, or its file could not be loaded. */
  readonly state: "failed" | "passed" | "missing";
  /** The first line of what the failed case said. */
  readonly said: string;
  /** Whether the mutated file was loaded at all: a mutant of dead code proves nothing. */
  readonly wasApplied: boolean;
}

/** With `isMutated` false, on the sources as they are. */
export async function runNamedCases(
  mutants: readonly Mutant[],
  isMutated: boolean = true,
): Promise<CaseOutcome[]> {
  const applied = new Set<Mutant>();
  const running = new Set<string>();
  const reporter: Reporter = {
    onTestModuleStart: ({ project }) => void running.add(project.name),
    onTestModuleEnd: ({ project }) => void running.delete(project.name),
  };
  const vitest = await createVitest("test", {
    config: false,
    root,
    watch: false,
    reporters: [reporter],
    projects: mutants.map((mutant) => ({
      ...fromSources,
      root,
      plugins: isMutated ? [mutation(mutant, () => applied.add(mutant))] : [],
      test: { name: mutant.name, include: [mutant.killedBy.file], pool: "threads", testTimeout: 60_000 },
    })),
  });
  try {
    const specifications = mutants.map(({ name, killedBy }) => {
      const project = vitest.projects.find((each) => each.name === name);
      if (project === undefined) throw new Error(`Vitest made no project for "${name}".`);
      return project.createSpecification(join(root, killedBy.file), {
        testNamePattern: endsWith(killedBy.title),
      });
    });
    const { testModules } = await within(vitest.runTestSpecifications(specifications), maxRunMs, () => [
      ...running,
    ]);
    return mutants.map((mutant) => {
      const module = testModules.find(({ project }) => project.name === mutant.name);
      return { mutant, ...outcomeOf(module, mutant.killedBy.title), wasApplied: applied.has(mutant) };
    });
  } finally {
    await vitest.close();
  }
}

function outcomeOf(module: TestModule | undefined, title: string): Pick<CaseOutcome, "state" | "said"> {
  const cases = [...(module?.children.allTests() ?? [])].filter((each) => each.name === title);
  const [only] = cases;
  if (only === undefined || cases.length > 1) return { state: "missing", said: firstError(module) };
  const { state } = only.result();
  return { state: state === "failed" || state === "passed" ? state : "missing", said: saidBy(only) };
}

function saidBy(test: TestCase): string {
  return firstLine(test.result().errors?.[0]?.message);
}

function firstError(module: TestModule | undefined): string {
  return firstLine(module?.errors()[0]?.message);
}

function firstLine(message: string | undefined): string {
  return message?.split("\n")[0] ?? "";
}

/** A mutant may make a case run for ever, even without a turn of its event loop. */
async function within<T>(result: Promise<T>, maxMs: number, running: () => readonly string[]): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(new Error(`After ${maxMs} ms the cases of these mutants still run: ${running().join("; ")}.`)),
      maxMs,
    );
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}

function endsWith(title: string): RegExp {
  return new RegExp(`${title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
}
