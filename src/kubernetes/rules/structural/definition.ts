// Checks a CustomResourceDefinition as a whole: names, versions, and the schema of each version. Source:
// apiextensions.k8s.io/v1, CustomResourceDefinitionSpec, and the checks of an API server on creation.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { Finding } from '../finding.ts';
import { dns1035Fault, subdomainFault } from '../formats/names.ts';
import { checkStructural } from './check/check.ts';
import { forbid, type Report, report } from './report.ts';

/**
 * Keywords allowed at the root of a schema whose CRD has a status subresource. An API server must be able to apply the
 * keywords to the status alone.
 */
const ROOT_WORDS: ReadonlySet<string> = new Set([
  'description',
  'type',
  'format',
  'title',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'required',
  'items',
  'properties',
  'externalDocs',
  'example',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
]);

/**
 * Returns the faults for which an API server would refuse the definition. Other checks cover its metadata and JSON
 * types.
 */
export function checkDefinition(definition: JsonObject): readonly Finding[] {
  const out: Report = { findings: [] };
  const { spec, metadata } = definition;
  if (!isObject(spec)) {
    report(out, 'schema-required', '/spec', 'is required.');
    return out.findings;
  }
  checkNames(out, spec, isObject(metadata) ? metadata.name : undefined);
  if (spec.preserveUnknownFields === true) {
    forbid(
      out,
      '/spec/preserveUnknownFields',
      'must not be true; set x-kubernetes-preserve-unknown-fields in the schema.',
    );
  }
  if (spec.scope !== 'Namespaced' && spec.scope !== 'Cluster') {
    report(out, 'schema-enum', '/spec/scope', 'must be one of "Namespaced", "Cluster".');
  }
  checkVersions(out, spec.versions);
  return out.findings;
}

function checkNames(out: Report, { group, names }: JsonObject, name: Json | undefined): void {
  const groupFault = typeof group === 'string' ? subdomainFault(group) : 'is required';
  if (groupFault !== undefined) forbid(out, '/spec/group', `${groupFault}.`);
  else if (typeof group === 'string' && !group.includes('.'))
    forbid(out, '/spec/group', 'must be a domain with a dot.');
  const { plural, singular, kind, listKind } = isObject(names) ? names : {};
  for (const [field, value, needed] of [
    ['plural', plural, true],
    ['singular', singular, false],
    ['kind', kind, true],
    ['listKind', listKind, false],
  ] as const) {
    const at = `/spec/names/${field}`;
    if (typeof value !== 'string' || value === '') {
      if (needed) report(out, 'schema-required', at, 'is required.');
      continue;
    }
    const fault = dns1035Fault(value.toLowerCase());
    if (fault !== undefined) forbid(out, at, `${fault}.`);
  }
  if (kind !== undefined && kind === listKind) forbid(out, '/spec/names/listKind', 'must differ from the kind.');
  if (typeof plural === 'string' && typeof group === 'string' && name !== `${plural}.${group}`) {
    report(out, 'invalid-name', '/metadata/name', `must be "${plural}.${group}", the plural and the group.`);
  }
}

function checkVersions(out: Report, versions: Json | undefined): void {
  const at = '/spec/versions';
  if (!Array.isArray(versions) || versions.length === 0) {
    report(out, 'schema-required', at, 'must hold at least one version.');
    return;
  }
  const known = versions.filter((version) => isObject(version));
  const names = known.map(({ name }) => name);
  if (new Set(names).size < names.length) forbid(out, at, 'must not name a version twice.');
  if (known.filter(({ storage }) => storage === true).length !== 1) forbid(out, at, 'must mark exactly one as stored.');
  for (const [index, version] of versions.entries())
    if (isObject(version)) checkVersion(out, version, `${at}/${index}`);
}

function checkVersion(out: Report, version: JsonObject, pointer: string): void {
  const { name, schema, subresources } = version;
  const fault = typeof name === 'string' ? dns1035Fault(name) : 'is required';
  if (fault !== undefined) forbid(out, `${pointer}/name`, `${fault}.`);
  const at = `${pointer}/schema/openAPIV3Schema`;
  const text = isObject(schema) ? schema.openAPIV3Schema : undefined;
  if (!isObject(text)) {
    report(out, 'schema-required', at, 'is required.');
    return;
  }
  out.findings.push(...checkStructural(text).map((finding) => ({ ...finding, pointer: at + finding.pointer })));
  if (!isObject(subresources) || subresources.status === undefined) return;
  for (const word of Object.keys(text)) {
    if (!ROOT_WORDS.has(word)) forbid(out, `${at}/${word}`, 'must not be at the root of a schema with a status.');
  }
}
