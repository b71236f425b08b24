// Checks the parts of a CustomResourceDefinition that define its API and its table columns.

import type { Json, JsonObject } from '#std/json.ts';
import type { Cause } from '../../api/status.ts';
import { nameComplaints } from '../../api/validate-metadata.ts';
import { itemsAt, objectAt } from '../fields.ts';
import { invalidValue } from './cause.ts';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];

export function validateServing(spec: JsonObject): Cause[] {
  const versions = itemsAt(spec, 'versions');
  const isOnly = versions.length === 1;
  return [
    ...checkNames(objectAt(spec, 'names')),
    ...preserved(spec),
    // If a CRD has only one version, errors use the field path of apiextensions.k8s.io/v1beta1.
    ...versions.flatMap((version, index) => columns(version, isOnly ? 'spec' : `spec.versions[${index}]`)),
  ];
}

function checkNames({ plural, singular, shortNames, categories }: JsonObject): Cause[] {
  return [
    ...label('plural', plural),
    ...label('singular', singular),
    ...listIn(shortNames).flatMap((name, index) => label(`shortNames[${index}]`, name)),
    ...listIn(categories).flatMap((name, index) => label(`categories[${index}]`, name)),
  ];
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function label(field: string, name: Json | undefined): Cause[] {
  if (typeof name !== 'string' || name === '') return [];
  return nameComplaints(name, 'rfc1035').map((why) => invalidValue(`spec.names.${field}`, name, why));
}

function preserved({ preserveUnknownFields }: JsonObject): Cause[] {
  if (preserveUnknownFields !== true) return [];
  const instead = 'set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalidValue('spec.preserveUnknownFields', true, `cannot set to true, ${instead}`)];
}

function columns(version: JsonObject, above: string): Cause[] {
  return itemsAt(version, 'additionalPrinterColumns').flatMap(({ type, jsonPath }, index) => {
    const field = `${above}.additionalPrinterColumns[${index}]`;
    const isPath = typeof jsonPath === 'string' && jsonPath.startsWith('.');
    return [
      ...(COLUMN_TYPES.includes(String(type))
        ? []
        : [invalidValue(`${field}.type`, type, `must be one of ${COLUMN_TYPES.join(',')}`)]),
      ...(isPath ? [] : [invalidValue(`${field}.JSONPath`, jsonPath, 'must be a simple json path starting with .')]),
    ];
  });
}
