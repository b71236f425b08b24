// Checks one identified object with its kind.

import assert from 'node:assert/strict';
import type { Finding } from '#kubernetes/rules/finding.ts';
import { groupOf } from '#kubernetes/rules/object.ts';
import { checkBinding, checkPolicy } from '#kubernetes/rules/policy/check.ts';
import { BINDING_KIND, POLICY_API, POLICY_KIND } from '#kubernetes/rules/policy/policy.ts';
import { checkBuiltin } from '#kubernetes/rules/structural/builtin.ts';
import { checkDefinition } from '#kubernetes/rules/structural/definition.ts';
import { checkMetadata } from '#kubernetes/rules/structural/metadata.ts';
import type { Structural } from '#kubernetes/rules/structural/structural.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Kind, Resource } from '../../kinds/kind.ts';
import { checkIgnoredFields } from '../diff/ignored-fields.ts';
import { nameFaultOf } from './identify.ts';
import type { KnownKind } from './kind-table.ts';
import { lockFindings } from './locks/lock-findings.ts';

export interface Examined {
  readonly findings: readonly Finding[];
  /** Object with defaults, if the kind is ours and the object is valid. */
  readonly defaulted?: Resource;
  /** Object without the invalid fields of its spec, if the kind is ours and the object is invalid. */
  readonly legible?: Resource;
}

export function examine(known: KnownKind, id: ResourceId, object: JsonObject): Examined {
  const nameFault = nameFaultOf(id.apiVersion, id.kind);
  const metadata = [...checkMetadata(object.metadata ?? null, '/metadata', nameFault), ...checkIgnoredFields(object)];
  switch (known.type) {
    case 'builtin': {
      const { apiVersion, kind } = id;
      const [version = ''] = apiVersion.split('/').slice(-1);
      const findings = checkBuiltin(known.document, { group: groupOf(apiVersion), version, kind }, object) ?? [];
      return { findings: distinctFindings([...metadata, ...findings, ...checkContent(id, object)]) };
    }
    case 'custom': {
      const { findings } = bySchema(known.structural, object);
      return { findings: [...metadata, ...findings] };
    }
    case 'lock': {
      const { findings } = bySchema(known.structural, object);
      return { findings: [...metadata, ...findings, ...(findings.some(isError) ? [] : lockFindings(object))] };
    }
    case 'recalled': {
      const { findings } = bySchema(known.structural, object);
      return { findings: [...metadata, ...findings.map(softened)] };
    }
    case 'unchecked':
      return { findings: metadata };
    case 'ours': {
      const { findings, defaulted } = bySchema(known.structural, object);
      const unread = known.kind.unread(object.spec);
      const all = [...metadata, ...unread, ...findings.map((each) => advised(known.kind, each))];
      if (!isResource(defaulted)) return { findings: all };
      return all.some(isError)
        ? { findings: all, legible: legibleOf(known.kind, defaulted, all) }
        : { findings: all, defaulted };
    }
  }
}

function advised(kind: Kind, finding: Finding): Finding {
  const advice = finding.code === 'schema-unknown-field' ? kind.adviceOnField(finding.pointer) : undefined;
  return advice === undefined ? finding : { ...finding, message: `${finding.message} ${advice}` };
}

/** Codes of findings that may be wrong for a newer release of the kind, which may have more fields and enum values. */
const MAY_BE_NEW: ReadonlySet<string> = new Set(['schema-unknown-field', 'schema-enum']);

function softened(finding: Finding): Finding {
  if (!MAY_BE_NEW.has(finding.code)) return finding;
  const message = `${finding.message} This is by the schema that comes with skep: --schemas names the definitions of your release.`;
  return { ...finding, severity: 'warning', message };
}

/** Returns the result of `examine` for an object that is known to be valid. */
export function examineSound(known: KnownKind, object: JsonObject): Examined {
  if (known.type !== 'ours') return { findings: [] };
  const defaulted = known.structural.withDefaults(object);
  assert(isResource(defaulted), 'an object that its schema accepts has a spec');
  return { findings: [], defaulted };
}

/** Checks objects that configure the API server, such as policies, by the API server's rules for these objects. */
function checkContent({ apiVersion, kind }: ResourceId, object: JsonObject): readonly Finding[] {
  switch (`${apiVersion} ${kind}`) {
    case 'apiextensions.k8s.io/v1 CustomResourceDefinition':
      return checkDefinition(object);
    case `${POLICY_API} ${POLICY_KIND}`:
      return checkPolicy(object);
    case `${POLICY_API} ${BINDING_KIND}`:
      return checkBinding(object);
    default:
      return [];
  }
}

/**
 * Checks an object with its schema. Unknown fields are errors, because the API server would drop them silently. Fields
 * inside a value of the wrong type are not reported as unknown.
 */
function bySchema(structural: Structural, object: JsonObject): { findings: Finding[]; defaulted: JsonObject } {
  const unknown = structural.unknownFields(object);
  const defaulted = structural.withDefaults(unknown.length === 0 ? object : structural.prune(object));
  const faults = structural.validate(defaulted);
  const mistyped = faults.flatMap(({ code, pointer }) => (code === 'schema-type' ? [pointer] : []));
  const ownFault = unknown.filter(({ pointer }) => !mistyped.some((each) => pointer.startsWith(`${each}/`)));
  return { findings: [...ownFault, ...faults], defaulted };
}

/**
 * Returns the object without the fields of its spec that have findings. undefined if a required field other than a text
 * would be missing.
 */
function legibleOf({ schema }: Kind, resource: Resource, findings: readonly Finding[]): Resource | undefined {
  const faulty = findings.map(({ pointer }) => /^\/spec\/([^/]+)/.exec(pointer)?.[1]);
  const { required, properties } = schema.spec;
  const lacksPart = faulty.some((name) => {
    const field = isObject(properties) && name !== undefined ? properties[name] : undefined;
    return Array.isArray(required) && required.includes(name ?? '') && isObject(field) && field.type !== 'string';
  });
  if (lacksPart) return undefined;
  const spec = Object.fromEntries(Object.entries(resource.spec).filter(([name]) => !faulty.includes(name)));
  return { ...resource, spec };
}

/** Removes duplicates. A CustomResourceDefinition is checked with two schemas, and both may report the same fault. */
function distinctFindings(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [`${finding.code} ${finding.pointer}`, finding])).values()];
}

function isError({ severity }: { readonly severity: string }): boolean {
  return severity === 'error';
}

function isResource(value: unknown): value is Resource {
  return isObject(value) && isObject(value.metadata) && isObject(value.spec);
}
