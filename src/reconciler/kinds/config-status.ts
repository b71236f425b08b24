// Computes the status of a kind that only contains settings for other resources. The status contains a digest of the
// settings, their validity, and the names of the resources that use them.

import { digest } from '#std/hash.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { integer, list, object, optional, type Static, text } from '#std/schema.ts';
import { ConditionsSchema, conditionsOf, observedGeneration } from './conditions.ts';
import type { Observed, Resource, View } from './kind.ts';
import { fieldsOfSameKind, type SettingsField } from './shared-settings.ts';

export const ConfigStatus = object(
  {
    observedGeneration: optional(
      integer('Generation of the settings that this status is about.', { format: 'int64', minimum: 0 }),
    ),
    configHash: optional(text('Digest of the settings, which changes whenever the settings change.')),
    referencingServers: optional(
      list(
        text('Name of an MCPServer, or kind and name of another resource.'),
        'Resources that name the settings, sorted: MCPServers by name, other kinds as Kind/name.',
      ),
    ),
    conditions: optional(ConditionsSchema),
  },
  'The last observed state of the settings.',
);

export function configStatus(
  self: { readonly name: string; readonly spec: unknown; readonly resource: Resource },
  field: SettingsField,
  observed: Observed,
): Static<typeof ConfigStatus> {
  const { resource, name } = self;
  const messages = observed.refusals.map(({ message }) => message);
  const valid = messages.length === 0;
  const result = valid
    ? { status: 'True' as const, reason: 'ValidationSucceeded', message: 'the settings can be used' }
    : { status: 'False' as const, reason: 'ValidationFailed', message: messages.join('; ') };
  return {
    ...observedGeneration(resource),
    configHash: valid ? configHash(self.spec) : (hashInUse(resource) ?? configHash(self.spec)),
    referencingServers: usersOf(observed.view, field, name),
    conditions: conditionsOf(
      resource,
      [
        { type: 'Valid', ...result },
        { type: 'Ready', ...result },
      ],
      observed,
    ),
  };
}

/** Returns a short digest. Clients only compare digests for equality. */
function configHash(spec: unknown): string {
  return digest(spec).slice(0, 16);
}

/** Returns the digest in the current status. While settings are invalid, resources use the last valid settings. */
function hashInUse({ status }: Resource): string | undefined {
  const hash = status?.configHash;
  return typeof hash === 'string' && hash !== '' ? hash : undefined;
}

/**
 * Returns the names of the resources that use the settings. ToolHive's clients expect plain names of MCPServers.
 * Resources of other kinds are listed as Kind/name; a name of a resource contains no slash.
 */
function usersOf(view: View, field: SettingsField, name: string): string[] {
  const fields = fieldsOfSameKind(field);
  const of = (kind: string, uses: (spec: JsonObject, field: SettingsField) => boolean) =>
    view
      .all(kind)
      .filter(({ spec }) => isObject(spec) && fields.some((each) => uses(spec, each)))
      .map(({ metadata }) => metadata.name);
  const at = (spec: JsonObject, each: SettingsField) => names(spec[each], name);
  return [
    ...of('MCPServer', at),
    ...of('MCPRemoteProxy', at).map((user) => `MCPRemoteProxy/${user}`),
    ...of('MCPServerEntry', at).map((user) => `MCPServerEntry/${user}`),
    ...of('VirtualMCPServer', (spec, each) => namesInside(spec, each, name)).map((user) => `VirtualMCPServer/${user}`),
  ].sort();
}

function names(ref: Json | undefined, name: string): boolean {
  return isObject(ref) && ref.name === name;
}

/**
 * Returns whether the object contains the reference at any depth: virtual servers can name settings for each backend.
 */
function namesInside(value: JsonObject, field: SettingsField, name: string): boolean {
  if (names(value[field], name)) return true;
  return Object.values(value)
    .flatMap((inner) => (Array.isArray(inner) ? inner : [inner]))
    .some((inner) => isObject(inner) && namesInside(inner, field, name));
}
