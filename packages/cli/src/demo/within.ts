/** A promise that is waited for so long and no longer; then the sentence says what did not happen. */
import { CommandFailure, exitCodes } from "../exitCodes.ts";

export async function within<T>(what: string, promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const sentence = `The demo waited ${timeoutMs / 1_000} s in vain until ${what}. Is this machine very busy? Try again.`;
    timer = setTimeout(() => reject(new CommandFailure(exitCodes.failed, sentence)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
