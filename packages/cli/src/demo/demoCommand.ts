/** `quorate demo STORY`: plays a story for real, and ends with 0 only if it ended as it should. */
import { CommandFailure, exitCodes } from "../exitCodes.ts";
import { UsageError } from "../usageError.ts";

/** Of what is no terminal. */
const plainWidth = 100;

export async function runDemo(positionals: readonly string[]): Promise<number> {
  const [story] = positionals;
  if (story !== "billing") {
    throw new UsageError(`There is no demo ${JSON.stringify(story)}; there is: billing.`);
  }
  const { playBilling } = await import("./billing/billingStory.ts");
  const { interrupted, forget } = interruption();
  try {
    const complaints = await playBilling(
      {
        line: (text) => process.stdout.write(`${text}\n`),
        width: Math.min(process.stdout.columns ?? plainWidth, plainWidth),
      },
      interrupted,
    );
    if (complaints.length > 0) {
      throw new CommandFailure(
        exitCodes.failed,
        `The story did not end as it should: ${complaints.join("; ")}.`,
      );
    }
    process.stdout.write("\nThe totals are right: with the term checked, everybody was charged once.\n");
    return exitCodes.done;
  } finally {
    forget();
  }
}

/** A signal ends the story, and the story what it started: a frozen process would not go by itself. */
function interruption(): { readonly interrupted: Promise<never>; readonly forget: () => void } {
  let interrupt = (): void => {};
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = () => reject(new CommandFailure(exitCodes.failed, "The demo was interrupted."));
  });
  // Between two chapters nobody waits for it.
  interrupted.catch(() => {});
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, interrupt);
  return {
    interrupted,
    forget: () => {
      for (const signal of signals) process.off(signal, interrupt);
    },
  };
}
