// Implements the rules of CustomResourceDefinitions: completes names and checks that the schema is structural.

import { isObject, type Json, type JsonObject, objectsIn, pointerTokens } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { checkStructural } from '../../rules/structural/check/check.ts';
import type { Cause } from '../api/status.ts';
import { schemaOf } from '../custom/definition.ts';
import type { KindRules } from './kind.ts';
import { validateServing } from './validate/definition.ts';

export const DEFINITION: Partial<KindRules> = {
  updatesUnconditionally: false,
  withDefaults,
  prepareCreate: (object) => ({ ...object, status: initialStatus(object) }),
  prepareUpdate: (next, old) => ({ ...next, status: withStoredVersions(old.status as Json, next) }) as KubeObject,
  validate: (next, _old, subresource) => (subresource === undefined ? validate(next) : []),
};

function withDefaults(object: KubeObject): KubeObject {
  const spec = isObject(object.spec) ? object.spec : {};
  const names = isObject(spec.names) ? spec.names : {};
  const kind = typeof names.kind === 'string' ? names.kind : '';
  const filled = {
    ...names,
    ...(kind === '' || names.singular !== undefined ? {} : { singular: kind.toLowerCase() }),
    ...(kind === '' || names.listKind !== undefined ? {} : { listKind: `${kind}List` }),
  };
  return { ...object, spec: { ...spec, names: filled, conversion: spec.conversion ?? { strategy: 'None' } } };
}

function storageVersion(object: KubeObject): string | undefined {
  const versions = isObject(object.spec) ? objectsIn(object.spec.versions) : [];
  const name = versions.find((version) => version.storage === true)?.name;
  return typeof name === 'string' ? name : undefined;
}

function initialStatus(object: KubeObject): JsonObject {
  const version = storageVersion(object);
  return {
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: version === undefined ? [] : [version],
  };
}

/** Adds the current storage version to `storedVersions`. A version stays in the list until a client removes it. */
function withStoredVersions(status: Json | undefined, next: KubeObject): JsonObject {
  const known = isObject(status) ? status : {};
  const stored = Array.isArray(known.storedVersions) ? known.storedVersions : [];
  const version = storageVersion(next);
  const all = version === undefined || stored.includes(version) ? stored : [...stored, version];
  return { ...known, storedVersions: all };
}

function validate(next: KubeObject): Cause[] {
  const spec = isObject(next.spec) ? next.spec : {};
  const names = isObject(spec.names) ? spec.names : {};
  const versions = objectsIn(spec.versions);
  return [
    ...checkName(next, spec, names),
    ...checkVersions(versions),
    ...checkStoredVersions(next, versions),
    ...validateServing(spec),
    ...versions.flatMap((version, index) => checkSchema(version, index, versions.length === 1)),
  ];
}

function checkName(next: KubeObject, spec: JsonObject, names: JsonObject): Cause[] {
  const expected = `${String(names.plural ?? '')}.${String(spec.group ?? '')}`;
  const { name } = next.metadata;
  if (name === expected) return [];
  const message = `Invalid value: ${JSON.stringify(name)}: must be spec.names.plural+"."+spec.group`;
  return [{ reason: 'FieldValueInvalid', message, field: 'metadata.name' }];
}

function checkVersions(versions: readonly JsonObject[]): Cause[] {
  const stored = versions.filter((version) => version.storage === true).length;
  if (stored === 1) return [];
  const message = 'Invalid value: null: must have exactly one version marked as storage version';
  return [{ reason: 'FieldValueInvalid', message, field: 'spec.versions' }];
}

/** Reports stored versions that the spec lacks. The server could not read objects that are stored in such a version. */
function checkStoredVersions({ status }: KubeObject, versions: readonly JsonObject[]): Cause[] {
  const stored = isObject(status) && Array.isArray(status.storedVersions) ? status.storedVersions.map(String) : [];
  return stored.flatMap((name, index): Cause[] => {
    if (versions.some((version) => version.name === name)) return [];
    const why = `${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    const message = `Invalid value: ${JSON.stringify(name)}: missing from spec.versions; ${why}`;
    return [{ reason: 'FieldValueInvalid', message, field: `status.storedVersions[${index}]` }];
  });
}

function checkSchema(version: JsonObject, index: number, isOnly: boolean): Cause[] {
  const field = `spec.versions[${index}].schema.openAPIV3Schema`;
  if (Object.keys(schemaOf(version)).length === 0) {
    return [{ reason: 'FieldValueRequired', message: 'Required value', field }];
  }
  // If a CRD has only one version, errors use the field path of apiextensions.k8s.io/v1beta1.
  const above = isOnly ? 'spec.validation.openAPIV3Schema' : field;
  return checkStructural(schemaOf(version)).map(({ pointer, message }): Cause => {
    const below = schemaPath(pointer);
    return { reason: 'FieldValueInvalid', message: `Invalid value: ${message}`, field: `${above}${below}` };
  });
}

/** Converts `/properties/spec/items` to `.properties[spec].items`. */
function schemaPath(pointer: string): string {
  const tokens = pointerTokens(pointer);
  const keyed = [
    'properties',
    'definitions',
    'patternProperties',
    'allOf',
    'anyOf',
    'oneOf',
    'x-kubernetes-validations',
  ];
  return tokens.map((token, index) => (keyed.includes(tokens[index - 1] ?? '') ? `[${token}]` : `.${token}`)).join('');
}
