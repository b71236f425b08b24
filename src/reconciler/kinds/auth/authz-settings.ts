// Finds the policies of a resource: policies in the resource, in a ConfigMap or in an MCPAuthzConfig.

import assert from 'node:assert/strict';
import { type GroupFields, readAuthzConfig } from '#contracts/authz-config.ts';
import { configMapText } from '#kubernetes/rules/content.ts';
import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import type { View } from '../kind.ts';
import type { AuthzConfig } from './authz.ts';
import { type Policies, sharedPolicies } from './shared-authz.ts';

/**
 * Fields of a resource that restrict accepted callers. If neither field is set, every accepted caller may do
 * everything.
 */
export interface AuthzSource {
  readonly authzConfig?: Static<typeof AuthzConfig>;
  readonly authzConfigRef?: { readonly name: string };
}

/** Returns whether the resource has policies, or names an object with policies. */
export function hasPolicies({ authzConfig, authzConfigRef }: AuthzSource): boolean {
  return authzConfig !== undefined || authzConfigRef !== undefined;
}

/**
 * Returns whether skep renders the policies into a child of the resource. Policies in a ConfigMap of the author are
 * mounted instead.
 */
export function isRendered({ authzConfig, authzConfigRef }: AuthzSource): boolean {
  return authzConfig?.inline !== undefined || authzConfigRef !== undefined;
}

/**
 * Returns the resource's settings about groups, which take precedence over such settings in the ConfigMap with the
 * policies.
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
 * Returns undefined if the author's ConfigMap contains the policies, or if the resource has no policies. Called only if
 * `inspect` has found no errors.
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

/** Returns the policies of an MCPAuthzConfig, or the reasons why they cannot be used. */
export function namedPolicies(ref: { readonly name: string }, view: View): ReturnType<typeof sharedPolicies> {
  const spec = view.find('MCPAuthzConfig', ref.name)?.spec;
  if (!isObject(spec)) return { faults: [{ pointer: '', message: 'it does not exist', code: 'authz-config-invalid' }] };
  return sharedPolicies(spec);
}

/**
 * Returns the name of the upstream provider whose token the policies read, if the policies' settings name a provider.
 */
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
