/** Assertions that stay on in production, and the end of a `switch` over a union. */

/** A sentence that must be true was not. The node that throws it stops: its state can no longer be trusted. */
export class InvariantError extends Error {
  readonly data: Readonly<Record<string, unknown>>;

  constructor(sentence: string, data: Readonly<Record<string, unknown>>) {
    super(`Broken invariant: ${sentence} ${JSON.stringify(data)}`);
    this.name = "InvariantError";
    this.data = data;
  }
}

/** Throws `InvariantError` unless `condition` holds. `sentence` says what should have been true. */
export function invariant(
  condition: boolean,
  sentence: string,
  data: Readonly<Record<string, unknown>> = {},
): asserts condition {
  if (!condition) throw new InvariantError(sentence, data);
}

/** The default of a `switch` that handles every member of a union: the compiler proves that it is never reached. */
export function unreachable(value: never): never {
  throw new InvariantError("every member of the union is handled", { value });
}
