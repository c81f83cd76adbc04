/** What openSources.js gives. It is no TypeScript, since it is what loads TypeScript. */
export function openSources(): Promise<{
  load(file: string): Promise<unknown>;
  close(): Promise<void>;
}>;
