// Computes the status of a kind that only contains settings for other resources: a digest of the settings, the
// resources that name them, and whether the settings are valid.

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

/** Clients compare it for equality only. */
function configHash(spec: unknown): string {
  return digest(spec).slice(0, 16);
}

/** Returns the digest in the current status: while settings are invalid, resources keep using the last valid ones. */
function hashInUse({ status }: Resource): string | undefined {
  const hash = status?.configHash;
  return typeof hash === 'string' && hash !== '' ? hash : undefined;
}

/**
 * Clients of ToolHive read the list as names of MCPServers, so these names stay plain. Names of other kinds have a
 * prefix with a slash, which a name cannot contain.
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

/** Returns whether the object contains the reference at any depth: virtual servers name settings for each backend. */
function namesInside(value: JsonObject, field: SettingsField, name: string): boolean {
  if (names(value[field], name)) return true;
  return Object.values(value)
    .flatMap((inner) => (Array.isArray(inner) ? inner : [inner]))
    .some((inner) => isObject(inner) && namesInside(inner, field, name));
}
