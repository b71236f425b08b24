// Finds mistakes in authorization settings that neither schema nor CEL can express: in the resource's policies and
// entities, and in the objects that the resource names.

import { GROUP_TYPE, type GroupFields, readAuthzConfig } from '#contracts/authz-config.ts';
import { configMapText } from '#kubernetes/rules/content.ts';
import { entitiesFault } from '#std/cedar.ts';
import type { Static } from '#std/schema.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import type { Finding, Reference, View } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import type { AuthzConfig } from './authz.ts';
import { type AuthzSource, namedPolicies, writtenGroups } from './authz-settings.ts';
import { cedarFaults, type GroupType, groupTypeOf, placedMessage } from './cedar-faults.ts';

type Authz = Static<typeof AuthzConfig> | undefined;

/** Pointer of the authorization settings of MCPServer and MCPRemoteProxy. */
const POINTER = '/spec/authzConfig';

/**
 * Returns the reference to the ConfigMap with the settings, if the resource names one. `pointer`: pointer of the
 * settings.
 */
export function authzReferences(authz: Authz, pointer = POINTER): readonly Reference[] {
  const ref = authz?.configMap;
  return ref === undefined ? [] : [{ pointer: `${pointer}/configMap`, kind: 'ConfigMap', ...ref }];
}

/** For `rules`: finds every mistake in policies and entities of the resource itself. */
export function inlineAuthzFindings(authz: Authz, pointer = POINTER): readonly Finding[] {
  if (authz?.inline === undefined) return [];
  const { policies, entitiesJson } = authz.inline;
  const groups = groupTypeOf(writtenGroups(authz), entitiesJson);
  const fault = entitiesFault(entitiesJson);
  const faults = [
    ...policies.flatMap((text, index) => policyFindings(text, groups, `${pointer}/inline/policies/${index}`)),
    ...(fault === undefined
      ? []
      : [finding('authz-entities-invalid', `${pointer}/inline/entitiesJson`, `entitiesJson: ${fault}`)]),
  ];
  return faults.length > 0 ? faults : idleGroupFindings(authz, pointer);
}

/** Warns of settings about groups if no policy and no entity names the type of groups. */
function idleGroupFindings(authz: NonNullable<Authz>, pointer: string): readonly Finding[] {
  const { inline, groupEntityType = GROUP_TYPE } = authz;
  const texts = inline === undefined ? [] : [...inline.policies, inline.entitiesJson];
  if (texts.some((text) => text.includes(groupEntityType))) return [];
  return (['groupClaimName', 'roleClaimName', 'groupEntityType'] as const)
    .filter((field) => authz[field] !== undefined)
    .map((field) => fieldWithoutEffect(`${pointer}/${field}`, `no policy and no entity names a ${groupEntityType}`));
}

function policyFindings(text: string, groups: GroupType, pointer: string): readonly Finding[] {
  return cedarFaults(text, groups).map((fault) => finding(fault.code, pointer, placedMessage(fault)));
}

/**
 * For `inspect`: finds mistakes in the ConfigMap or MCPAuthzConfig that the resource names. Another manager may have
 * applied the MCPAuthzConfig without skep's checks. `at`: pointer of the object with the fields of `source`.
 */
export function namedAuthzFindings(source: AuthzSource, view: View, at = '/spec'): readonly Finding[] {
  const { authzConfig, authzConfigRef } = source;
  if (authzConfigRef === undefined) return configMapAuthzFindings(authzConfig, view, `${at}/authzConfig`);
  const found = namedPolicies(authzConfigRef, view);
  if (!('faults' in found)) return [];
  return found.faults.map(({ code, message }) =>
    finding(code, `${at}/authzConfigRef/name`, `MCPAuthzConfig ${authzConfigRef.name}: ${message}`),
  );
}

function configMapAuthzFindings(authz: Authz, view: View, pointer: string): readonly Finding[] {
  const ref = authz?.configMap;
  if (ref === undefined) return [];
  const text = configMapText(view.find('ConfigMap', ref.name), ref.key);
  const faults = text === undefined ? [invalidFile('is missing')] : fileFaults(text, writtenGroups(authz));
  return faults.map(({ code, message }) =>
    finding(code, `${pointer}/configMap`, `ConfigMap ${ref.name}, key ${ref.key}: ${message}`),
  );
}

type FileFault = Pick<Finding, 'code' | 'message'>;

function invalidFile(message: string): FileFault {
  return { code: 'authz-config-invalid', message };
}

function fileFaults(text: string, written: GroupFields): readonly FileFault[] {
  const [document, ...more] = readDocuments(text, '');
  const problem = document?.problems[0];
  if (problem !== undefined) return [invalidFile(problem.message)];
  if (more.length > 0) return [invalidFile('contains several documents')];
  const read = readAuthzConfig(document?.value);
  if ('fault' in read) return [invalidFile(read.fault)];
  const { policies, entities_json: entities } = read.file.cedar;
  const groups = groupTypeOf({ ...read.file.cedar, ...written }, entities);
  const fault = entities === undefined ? undefined : entitiesFault(entities);
  return [
    ...policies.flatMap((policy, index) =>
      cedarFaults(policy, groups).map(({ line, column, message }) =>
        invalidFile(`cedar.policies[${index}], line ${line}, column ${column}: ${message}`),
      ),
    ),
    ...(fault === undefined ? [] : [invalidFile(`cedar.entities_json: ${fault}`)]),
  ];
}

function finding(code: string, pointer: string, message: string): Finding {
  return { code, severity: 'error', pointer, message };
}
