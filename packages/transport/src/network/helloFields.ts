/**
 * What a hello may look like on any network: few, short, printable fields with names that fit an HTTP header.
 *
 * Networks check it on both sides of a connection, so that a hello which passes on one network passes on all.
 */
import { type Hello, QuorateError } from "@quorate/raft";
import { isText } from "../codec/fields.ts";
import { maxHelloFields, maxHelloValueLength } from "../limits.ts";

const fieldName = /^[a-z][a-z0-9-]{0,31}$/;

/** A sentence that says what is wrong with it, or undefined. */
export function helloFault(hello: Hello): string | undefined {
  const fields = Object.entries(hello);
  if (fields.length > maxHelloFields) {
    return `a hello has at most ${maxHelloFields} fields, this one has ${fields.length}`;
  }
  for (const [name, value] of fields) {
    if (!fieldName.test(name)) return `${JSON.stringify(name)} is no name of a hello field`;
    if (!isText(value, maxHelloValueLength) || value !== value.trim()) {
      return `hello field ${name} is not printable ASCII of at most ${maxHelloValueLength} characters`;
    }
  }
  return undefined;
}

/** Throws `INVALID_ARGUMENT` for a hello of our own that no network could carry. */
export function checkHello(hello: Hello): void {
  const fault = helloFault(hello);
  if (fault !== undefined)
    throw new QuorateError("INVALID_ARGUMENT", `This connection cannot be made: ${fault}.`);
}
