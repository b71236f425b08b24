// Checks embedded objects (`x-kubernetes-embedded-resource`): each has its own apiVersion, kind and metadata.

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import { dns1035Fault } from '../formats/names.ts';
import { fieldOf } from './defaults.ts';
import { checkMetadata } from './metadata.ts';
import { type Report, report } from './report.ts';
import type { SchemaNode } from './schema.ts';

/** Checks the objects inside `value`. The caller checks `value` itself. */
export function checkEmbedded(out: Report, node: SchemaNode, value: Json, pointer: string): void {
  if (!node.deep.embedded) return;
  if (Array.isArray(value)) {
    if (node.items === undefined) return;
    for (const [index, item] of value.entries()) checkOne(out, node.items, item, `${pointer}/${index}`);
  } else if (isObject(value)) {
    for (const [name, field] of Object.entries(value)) {
      const schema = fieldOf(node, name);
      if (schema !== undefined && field !== undefined) checkOne(out, schema, field, `${pointer}/${pointerToken(name)}`);
    }
  }
}

function checkOne(out: Report, node: SchemaNode, value: Json, pointer: string): void {
  if (node.embedded && isObject(value)) checkObject(out, value, pointer);
  checkEmbedded(out, node, value, pointer);
}

function checkObject(out: Report, object: JsonObject, pointer: string): void {
  checkText(out, object.apiVersion, `${pointer}/apiVersion`, (text) =>
    text.split('/').length > 2 ? 'must be a version, or a group and a version' : undefined,
  );
  checkText(out, object.kind, `${pointer}/kind`, (text) => dns1035Fault(text.toLowerCase()));
  const { metadata } = object;
  if (metadata !== undefined && metadata !== null) out.findings.push(...checkMetadata(metadata, `${pointer}/metadata`));
}

function checkText(
  out: Report,
  value: Json | undefined,
  pointer: string,
  faultOf: (text: string) => string | undefined,
): void {
  if (value === undefined) report(out, 'schema-required', pointer, 'is required.');
  else if (typeof value !== 'string') report(out, 'schema-type', pointer, 'must be a string.');
  else {
    const fault = value === '' ? 'must not be empty' : faultOf(value);
    if (fault !== undefined) report(out, 'invalid-metadata', pointer, `${fault}.`);
  }
}
