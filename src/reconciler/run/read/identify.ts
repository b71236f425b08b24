// Identifies the object of a document. An uncertain identity is never guessed, because a wrong identity could delete an
// object.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { dnsLabelFault, pathSegmentFault, subdomainFault } from '#kubernetes/rules/formats/names.ts';
import { describeValue as wordFor } from '#kubernetes/rules/structural/report.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { KindTable, KnownKind } from './kind-table.ts';

interface IdentityFault extends Finding {
  readonly code: 'document-not-object' | 'missing-identity' | 'unknown-kind' | 'invalid-name' | 'invalid-namespace';
}

export type Identified =
  | {
      readonly ok: false;
      readonly fault: IdentityFault;
      /** Kind with which the other fields of the object can be checked; absent if the kind is unknown. */
      readonly known?: KnownKind;
    }
  | {
      readonly ok: true;
      readonly id: ResourceId;
      readonly known: KnownKind;
      /**
       * Object with its declared namespace or the default namespace; without a namespace if the kind is cluster-scoped.
       */
      readonly object: JsonObject;
      readonly warnings: readonly IdentityFault[];
    };

/** Kinds whose names must be DNS labels. Names of most other kinds are DNS subdomains. */
const LABEL_NAMED: ReadonlySet<string> = new Set(['v1 Namespace', 'v1 Service', 'apps/v1 StatefulSet']);
const RBAC = 'rbac.authorization.k8s.io/';

export interface IdentifyOptions {
  /** Namespace for objects of namespaced kinds that declare none. */
  readonly namespace?: string | undefined;
  /**
   * Pointers to texts whose expressions are not replaced. A name or namespace at such a pointer is accepted unchecked.
   */
  readonly literal?: readonly string[] | undefined;
}

export function identify(value: Json, table: KindTable, options: IdentifyOptions): Identified {
  if (!isObject(value)) {
    return unidentified(
      'document-not-object',
      '',
      `A manifest is a mapping with apiVersion, kind and metadata, not ${wordFor(value)}.`,
    );
  }
  const { apiVersion, kind, metadata } = value;
  const named = typeof apiVersion === 'string' && typeof kind === 'string' ? table.find(apiVersion, kind) : undefined;
  const missing = missingPart(value);
  if (missing !== undefined) return { ok: false, fault: missing, known: named };
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isObject(metadata)) {
    return unidentified('missing-identity', '', 'The manifest has no identity.');
  }
  const { name, namespace } = metadata;
  if (named === undefined) return unidentified('unknown-kind', '/kind', table.explain(apiVersion, kind));
  const known = named;
  const { literal = [] } = options;
  const checkName = literal.includes('/metadata/name') ? () => undefined : nameFaultOf(apiVersion, kind);
  const fault = typeof name === 'string' ? checkName(name) : 'must be a string';
  if (typeof name !== 'string' || fault !== undefined) {
    return unidentified('invalid-name', '/metadata/name', `metadata.name ${fault ?? 'must be a string'}.`, known);
  }
  const written = typeof namespace === 'string' && namespace !== '' ? namespace : undefined;
  const isNamespaced = known.namespaced === 'as written' ? written !== undefined : known.namespaced;
  if (!isNamespaced) return clusterScoped({ apiVersion, kind, name }, known, value, metadata);
  const effective = written ?? options.namespace;
  if (effective === undefined) {
    const message = `${kind} "${name}" needs metadata.namespace: without it the object cannot be identified. Add it, or set \`namespace\` of the source in skep.yaml.`;
    return unidentified('invalid-namespace', '/metadata/namespace', message, known);
  }
  const wrong = literal.includes('/metadata/namespace') ? undefined : dnsLabelFault(effective);
  if (wrong !== undefined)
    return unidentified('invalid-namespace', '/metadata/namespace', `metadata.namespace ${wrong}.`, known);
  const object = written === undefined ? { ...value, metadata: { ...metadata, namespace: effective } } : value;
  return { ok: true, id: { apiVersion, kind, namespace: effective, name }, known, object, warnings: [] };
}

/** Returns the function that checks names of the kind as the API server does. */
export function nameFaultOf(apiVersion: string, kind: string): (name: string) => string | undefined {
  // The name of an IPAddress is an IP address, which may contain colons.
  if (apiVersion.startsWith(RBAC) || kind === 'IPAddress') return pathSegmentFault;
  return LABEL_NAMED.has(`${apiVersion} ${kind}`) ? dnsLabelFault : subdomainFault;
}

function unidentified(code: IdentityFault['code'], pointer: string, message: string, known?: KnownKind): Identified {
  return { ok: false, fault: { code, severity: 'error', pointer, message }, known };
}

const NO_MANIFEST =
  'This is not a manifest: apiVersion and kind are missing. Keep other files outside the folder of the manifests.';

function isMissing(value: Json | undefined): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

function missingPart({ apiVersion, kind, metadata }: JsonObject): IdentityFault | undefined {
  if (isMissing(apiVersion) && isMissing(kind)) {
    return { code: 'missing-identity', severity: 'error', pointer: '/apiVersion', message: NO_MANIFEST };
  }
  const parts: readonly (readonly [string, Json | undefined])[] = [
    ['apiVersion', apiVersion],
    ['kind', kind],
    ['metadata.name', isObject(metadata) ? metadata.name : undefined],
  ];
  for (const [path, value] of parts) {
    const pointer = `/${path.replace('.', '/')}`;
    if (isMissing(value)) {
      return { code: 'missing-identity', severity: 'error', pointer, message: absent(path, metadata) };
    }
    if (typeof value === 'string') continue;
    const message = `${path} must be a string, not ${wordFor(value)}: put it in quotes.`;
    return { code: 'missing-identity', severity: 'error', pointer, message };
  }
  return undefined;
}

function absent(path: string, metadata: Json | undefined): string {
  if (path === 'metadata.name' && isObject(metadata) && metadata.generateName !== undefined) {
    return 'metadata.name is missing: generateName creates a new object each time, and cannot be declared.';
  }
  return `${path} is missing.`;
}

function clusterScoped(id: ResourceId, known: KnownKind, object: JsonObject, metadata: JsonObject): Identified {
  const { namespace, ...rest } = metadata;
  if (namespace === undefined || namespace === null || namespace === '') {
    return { ok: true, id, known, object, warnings: [] };
  }
  const warning: IdentityFault = {
    code: 'invalid-namespace',
    severity: 'warning',
    pointer: '/metadata/namespace',
    message: `${id.kind} is cluster-scoped: the namespace is ignored.`,
  };
  return { ok: true, id, known, object: { ...object, metadata: rest }, warnings: [warning] };
}
