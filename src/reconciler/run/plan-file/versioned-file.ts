// Reads and writes files of skep: JSON with a format, a version, and a digest of the content.

import { compileStructural } from '#kubernetes/rules/structural/structural.ts';
import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { describePattern } from '#std/schema/pattern-meanings.ts';
import type { TSchema } from '#std/schema.ts';

export interface FileKind {
  readonly format: string;
  readonly version: number;
  readonly schema: TSchema;
  /** Description for messages, such as `plan file (skep plan --out writes one)`. */
  readonly says: string;
  readonly invalid: string;
  readonly otherVersion: string;
}

export function withDigest<T extends object>(body: T): T & { digest: string } {
  return { ...body, digest: digest(body) };
}

/**
 * Returns the content after all checks. Throws Failure with code `kind.invalid` or `kind.otherVersion`. `name` is the
 * file name for messages.
 */
export function readVersioned(kind: FileKind, content: string, name: string): JsonObject {
  const invalid = (reason: string, cause?: unknown): Failure =>
    new Failure(kind.invalid, `${name}: ${reason}`, { cause });
  const value = parseContent(content, invalid);
  if (!isObject(value) || value.format !== kind.format) throw invalid(`the file is not a ${kind.says}`);
  const { version, digest: written, ...body } = value;
  if (version !== kind.version) {
    const message = `${name}: the file has version ${JSON.stringify(version)}, and this skep reads version ${kind.version}: use the skep that created it`;
    throw new Failure(kind.otherVersion, message);
  }
  // The digest is checked first: an edited file is refused even if its content is valid.
  if (written !== digest({ version, ...body })) {
    throw invalid('the digest does not fit the content: the file was changed after it was created');
  }
  const schema: JsonObject = JSON.parse(JSON.stringify(kind.schema));
  const structural = compileStructural(schema, describePattern);
  const [finding] = [...structural.unknownFields(value), ...structural.validate(value)];
  if (finding !== undefined) throw invalid(`${finding.pointer}: ${finding.message}`);
  return value;
}

function parseContent(content: string, invalid: (reason: string, cause: unknown) => Failure): Json {
  try {
    return JSON.parse(content);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(`the file is not JSON (${reason}): was it cut off?`, cause);
  }
}
