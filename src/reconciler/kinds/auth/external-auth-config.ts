// Finds the MCPExternalAuthConfig that a resource names, among the objects of the namespace.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { readerOf } from '../aliases.ts';
import type { View } from '../kind.ts';
import { ExternalAuth } from './external-auth.ts';

export type ExternalAuthConfig = Static<typeof ExternalAuth>;

const SCHEMA: unknown = ExternalAuth;
const read = readerOf(SCHEMA as JsonObject, '/spec');

/** What it says, by the names of today. What is in a view fits its schema, with defaults. */
export function externalAuthConfig(
  ref: { readonly name: string } | undefined,
  view: View,
): ExternalAuthConfig | undefined {
  const spec = ref === undefined ? undefined : view.find('MCPExternalAuthConfig', ref.name)?.spec;
  if (!isObject(spec)) return undefined;
  const value: unknown = read(spec).value;
  return value as ExternalAuthConfig;
}
