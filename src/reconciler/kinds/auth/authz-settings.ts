// Finds the policies of a resource: its own, or the policies of the MCPAuthzConfig that it names.

import assert from 'node:assert/strict';
import { type GroupFields, readAuthzConfig } from '#contracts/authz-config.ts';
import { configMapText } from '#kubernetes/rules/content.ts';
import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import type { View } from '../kind.ts';
import type { AuthzConfig } from './authz.ts';
import { type Policies, sharedPolicies } from './shared-authz.ts';

/** The fields of a resource that restrict accepted callers. Without both fields, accepted callers may do everything. */
export interface AuthzSource {
  readonly authzConfig?: Static<typeof AuthzConfig>;
  readonly authzConfigRef?: { readonly name: string };
}

/** Returns whether policies decide calls, in the resource or in another object. */
export function hasPolicies({ authzConfig, authzConfigRef }: AuthzSource): boolean {
  return authzConfig !== undefined || authzConfigRef !== undefined;
}

/**
 * Returns whether the policies are in the resource itself or in an MCPAuthzConfig, so that they are rendered into an
 * object of the resource.
 */
export function isRendered({ authzConfig, authzConfigRef }: AuthzSource): boolean {
  return authzConfig?.inline !== undefined || authzConfigRef !== undefined;
}

/**
 * Returns the resource's settings about groups. They take precedence over the settings next to policies in a ConfigMap.
 */
export function writtenGroups(authz: AuthzSource['authzConfig']): GroupFields {
  const { groupClaimName, roleClaimName, groupEntityType } = authz ?? {};
  return {
    ...(groupClaimName === undefined ? {} : { group_claim_name: groupClaimName }),
    ...(roleClaimName === undefined ? {} : { role_claim_name: roleClaimName }),
    ...(groupEntityType === undefined ? {} : { group_entity_type: groupEntityType }),
  };
}

/**
 * Returns undefined if the policies are in a ConfigMap of the author, or if there are none. Called only for resources
 * that were inspected.
 */
export function renderedPolicies(source: AuthzSource, view: View): Policies | undefined {
  const { authzConfig, authzConfigRef } = source;
  if (authzConfigRef === undefined) {
    const { inline } = authzConfig ?? {};
    const upstreamProvider = inline?.primaryUpstreamProvider;
    return inline && { ...inline, upstreamProvider, groups: writtenGroups(authzConfig) };
  }
  const found = namedPolicies(authzConfigRef, view);
  assert(!('faults' in found), 'children are created only for resources whose references were inspected');
  return found;
}

/** Returns the policies of an MCPAuthzConfig, or why they cannot be used. */
export function namedPolicies(ref: { readonly name: string }, view: View): ReturnType<typeof sharedPolicies> {
  const spec = view.find('MCPAuthzConfig', ref.name)?.spec;
  if (!isObject(spec)) return { faults: [{ pointer: '', message: 'it does not exist', code: 'authz-config-invalid' }] };
  return sharedPolicies(spec);
}

/** Returns the upstream provider that is named next to the policies, in the resource or in another object. */
export function namedProvider({ authzConfig, authzConfigRef }: AuthzSource, view: View): string | undefined {
  if (authzConfigRef !== undefined) {
    const found = namedPolicies(authzConfigRef, view);
    return 'faults' in found ? undefined : found.upstreamProvider;
  }
  const ref = authzConfig?.configMap;
  if (ref === undefined) return authzConfig?.inline?.primaryUpstreamProvider;
  const text = configMapText(view.find('ConfigMap', ref.name), ref.key) ?? '';
  const read = readAuthzConfig(readDocuments(text, '')[0]?.value);
  return 'file' in read ? read.file.cedar.primary_upstream_provider : undefined;
}
