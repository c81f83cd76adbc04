/** An error in a sentence, without its call stack: that names places in the code, on which no trace may depend. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? `${String(error.code)}: ` : "";
  return `${code}${error.message}`;
}
