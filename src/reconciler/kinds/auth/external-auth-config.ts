// Finds the MCPExternalAuthConfig that a resource names, among the objects of the namespace.

import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { specReader } from '../aliases.ts';
import type { View } from '../kind.ts';
import { ExternalAuth } from './external-auth.ts';

export type ExternalAuthConfig = Static<typeof ExternalAuth>;

const read = specReader(ExternalAuth);

/** Returns the settings with current field names; undefined if the object does not exist. */
export function externalAuthConfig(
  ref: { readonly name: string } | undefined,
  view: View,
): ExternalAuthConfig | undefined {
  const spec = ref === undefined ? undefined : view.find('MCPExternalAuthConfig', ref.name)?.spec;
  return isObject(spec) ? read(spec) : undefined;
}
