/** Standard input, whole and within a bound. */
import { UsageError } from "../usageError.ts";

/** `what` begins the sentence where there is too much of it. */
export async function readStandardInput(what: string, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) {
      const mebibytes = maxBytes / 1024 / 1024;
      throw new UsageError(
        `${what} on standard input has more than ${maxBytes} bytes (${mebibytes} MiB), the limit.`,
      );
    }
  }
  return Buffer.concat(chunks);
}
