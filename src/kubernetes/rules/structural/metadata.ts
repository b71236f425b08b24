// Checks an object's metadata by the rules for all kinds. Source: meta/v1 ObjectMeta, and its validation in
// apimachinery.

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import type { Finding } from '../finding.ts';
import { labelValueFault, qualifiedNameFault, subdomainFault } from '../formats/names.ts';
import { type Report, report, wrongType } from './report.ts';
import { readSchema } from './schema.ts';
import { pruned } from './unknown.ts';
import { validateValue } from './validate.ts';

const TEXT: JsonObject = { type: 'string', nullable: true };
const FLAG: JsonObject = { type: 'boolean', nullable: true };
const NUMBER: JsonObject = { type: 'integer', nullable: true };
const TEXTS: JsonObject = { type: 'object', nullable: true, additionalProperties: TEXT };

const OBJECT_META = readSchema({
  type: 'object',
  properties: {
    annotations: TEXTS,
    creationTimestamp: TEXT,
    deletionGracePeriodSeconds: NUMBER,
    deletionTimestamp: TEXT,
    finalizers: { type: 'array', nullable: true, items: TEXT },
    generateName: TEXT,
    generation: NUMBER,
    labels: TEXTS,
    managedFields: {
      type: 'array',
      nullable: true,
      items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
    name: TEXT,
    namespace: TEXT,
    ownerReferences: {
      type: 'array',
      nullable: true,
      items: {
        type: 'object',
        properties: {
          apiVersion: TEXT,
          kind: TEXT,
          name: TEXT,
          uid: TEXT,
          controller: FLAG,
          blockOwnerDeletion: FLAG,
        },
      },
    },
    resourceVersion: TEXT,
    selfLink: TEXT,
    uid: TEXT,
  },
});

const MAX_ANNOTATION_BYTES = 256 * 1024;

/** Reports faults of the metadata at `pointer`. `nameFault` checks the name by the rules of the kind. */
export function checkMetadata(
  metadata: Json,
  pointer: string,
  nameFault: (name: string) => string | undefined = subdomainFault,
): readonly Finding[] {
  const out: Report = { findings: [] };
  if (!isObject(metadata)) {
    report(out, 'schema-type', pointer, wrongType('a mapping', metadata));
    return out.findings;
  }
  const { object, unknown } = pruned(OBJECT_META, metadata, pointer);
  out.findings.push(...unknown);
  validateValue(out, OBJECT_META, object, pointer);
  if (out.findings.some(({ code }) => code === 'schema-type')) return out.findings;
  checkNames(out, object, pointer, nameFault);
  checkLabels(out, object.labels, `${pointer}/labels`);
  checkAnnotations(out, object.annotations, `${pointer}/annotations`);
  checkFinalizers(out, object.finalizers, `${pointer}/finalizers`);
  checkOwners(out, object.ownerReferences, `${pointer}/ownerReferences`);
  checkOfServer(out, object, pointer);
  return out.findings;
}

/**
 * Reports fields that identify one version of one object, such as its UID. Manifests that were copied from a cluster
 * contain these fields. An apply with `managedFields` fails. An apply with a `uid` or `resourceVersion` fails unless
 * the object in the cluster has the same value.
 */
function checkOfServer(out: Report, metadata: JsonObject, pointer: string): void {
  for (const field of ['uid', 'resourceVersion', 'managedFields']) {
    const value = metadata[field] ?? '';
    if (value === '') continue;
    report(
      out,
      'invalid-metadata',
      `${pointer}/${field}`,
      'is set by the server, and cannot be declared: leave it out.',
    );
  }
}

function checkNames(
  out: Report,
  { name, namespace }: JsonObject,
  pointer: string,
  nameFault: (name: string) => string | undefined,
): void {
  const fault = typeof name === 'string' && name !== '' ? nameFault(name) : undefined;
  if (fault !== undefined) report(out, 'invalid-name', `${pointer}/name`, `${fault}.`);
  const wrong = typeof namespace === 'string' && namespace !== '' ? subdomainFault(namespace) : undefined;
  if (wrong !== undefined || (typeof namespace === 'string' && namespace.includes('.'))) {
    report(out, 'invalid-name', `${pointer}/namespace`, `${wrong ?? 'must not contain "."'}.`);
  }
}

function checkLabels(out: Report, labels: Json | undefined, pointer: string): void {
  if (!isObject(labels)) return;
  for (const [key, value] of Object.entries(labels)) {
    const at = `${pointer}/${pointerToken(key)}`;
    const keyFault = qualifiedNameFault(key);
    if (keyFault !== undefined) atKey(out, 'invalid-label', at, `The label key "${key}" ${keyFault}.`);
    const fault = typeof value === 'string' ? labelValueFault(value) : undefined;
    if (fault !== undefined) report(out, 'invalid-label', at, `${fault}.`);
  }
}

function checkAnnotations(out: Report, annotations: Json | undefined, pointer: string): void {
  if (!isObject(annotations)) return;
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    bytes += Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0);
    const fault = qualifiedNameFault(key.toLowerCase());
    if (fault === undefined) continue;
    atKey(out, 'invalid-annotation', `${pointer}/${pointerToken(key)}`, `The annotation key "${key}" ${fault}.`);
  }
  if (bytes <= MAX_ANNOTATION_BYTES) return;
  report(out, 'invalid-annotation', pointer, `must have at most ${MAX_ANNOTATION_BYTES} bytes in all, not ${bytes}.`);
}

function atKey(out: Report, code: 'invalid-label' | 'invalid-annotation', pointer: string, message: string): void {
  out.findings.push({ code, severity: 'error', pointer, message, at: 'key' });
}

function checkFinalizers(out: Report, finalizers: Json | undefined, pointer: string): void {
  for (const [index, finalizer] of (Array.isArray(finalizers) ? finalizers : []).entries()) {
    const fault = typeof finalizer === 'string' ? qualifiedNameFault(finalizer) : undefined;
    if (fault !== undefined) report(out, 'invalid-metadata', `${pointer}/${index}`, `${fault}.`);
  }
}

function checkOwners(out: Report, owners: Json | undefined, pointer: string): void {
  let controllers = 0;
  for (const [index, owner] of (Array.isArray(owners) ? owners : []).entries()) {
    if (!isObject(owner)) continue;
    for (const field of ['apiVersion', 'kind', 'name', 'uid']) {
      if (owner[field] !== undefined && owner[field] !== null && owner[field] !== '') continue;
      report(out, 'invalid-metadata', `${pointer}/${index}/${field}`, 'is required.');
    }
    if (owner.controller === true) controllers++;
  }
  if (controllers > 1) report(out, 'invalid-metadata', pointer, 'may name one controller only.');
}
