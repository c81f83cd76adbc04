/** What a conformance suite is made of: plain data, so that any test runner can run it. */

export interface ConformanceCase {
  /** A sentence. */
  readonly name: string;
  /** Rejects when the store does not conform. */
  run(): Promise<void>;
}

export function check(condition: boolean, sentence: string): void {
  if (!condition) throw new Error(`Does not conform: ${sentence}`);
}

export async function checkRejects(promise: Promise<unknown>, sentence: string): Promise<void> {
  const rejected = await promise.then(
    () => false,
    () => true,
  );
  check(rejected, sentence);
}

export function bytes(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values);
}
