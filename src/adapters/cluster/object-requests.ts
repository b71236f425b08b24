// Reads and writes one object. Builds the request of each verb with its preconditions and the impersonated user.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { ApiResource, ApplyOptions, Clock, JsonPatchOperation, PatchOptions } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { unicodeEscape } from '#std/json.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { ClusterApi } from './api.ts';
import { type Discovered, discover } from './discovery.ts';
import { readIfFound, sendForJson } from './json-answer.ts';
import { isKubeObject } from './objects.ts';
import { collectionPath, objectPath } from './paths.ts';
import { unexpected } from './refusals.ts';

export interface Limit {
  /**
   * After this time no change begins: changes fail with `cluster-deadline`. Statuses and Events may still be written.
   */
  readonly changesUntil: number;
  /** After this time no request begins or continues to wait. */
  readonly requestsUntil: number;
  /** Name of the setting, for the error message. */
  readonly setting: string;
}

export interface RequestContext {
  readonly api: ClusterApi;
  readonly fieldManager: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  fence: ((changes: boolean) => void) | undefined;
  limit: Limit | undefined;
  discovered: Promise<Discovered> | undefined;
}

export function discoverOnce(context: RequestContext): Promise<Discovered> {
  const { api } = context;
  const known = context.discovered;
  if (known !== undefined) return known;
  const reading = discover(api);
  context.discovered = reading;
  reading.catch(() => {
    if (context.discovered === reading) context.discovered = undefined;
  });
  return reading;
}

async function resourceOf(context: RequestContext, id: ResourceId): Promise<ApiResource> {
  const resource = (await discoverOnce(context)).find(id.apiVersion, id.kind);
  const { apiVersion, kind } = id;
  const data = { apiVersion, kind, server: context.api.url('') };
  if (resource === undefined) {
    throw new Failure('cluster-unknown-kind', `${data.server} serves no ${kind} in ${apiVersion}`, { data });
  }
  if (resource.namespaced && (id.namespace ?? '') === '') {
    throw new Failure('cluster-invalid', `${formatId(id)} needs a namespace`, { data });
  }
  return resource;
}

export async function getObject(
  context: RequestContext,
  id: ResourceId,
  urgent: boolean,
): Promise<KubeObject | undefined> {
  const path = objectPath(await resourceOf(context, id), id.namespace, id.name);
  const read = await readIfFound(sendForJson(context.api, { method: 'GET', path, repeatable: true, urgent }));
  return read && asObject(context, path, read);
}

/**
 * Sends a server-side apply as YAML, of which JSON is a subset (Kubernetes API Concepts, "Server-Side Apply").
 * `fieldValidation` is `Ignore`. An apply refuses unknown fields with each value of `fieldValidation`. Other values
 * only make the server search for duplicate keys, which serialised objects never have.
 */
export async function applyObject(context: RequestContext, object: KubeObject, how: ApplyOptions): Promise<KubeObject> {
  const { name, namespace } = object.metadata;
  const resource = await resourceOf(context, { ...object, ...withNamespace(namespace), name });
  const query = new URLSearchParams({
    fieldManager: context.fieldManager,
    force: String(how.force),
    fieldValidation: 'Ignore',
  });
  if (how.dryRun === true) query.set('dryRun', 'All');
  const below = how.subresource === undefined ? '' : `/${how.subresource}`;
  const path = `${objectPath(resource, namespace, name)}${below}?${query}`;
  const answer = await sendForJson(context.api, {
    method: 'PATCH',
    path,
    body: yamlOf(object),
    contentType: 'application/apply-patch+yaml',
    repeatable: true,
    secret: isSecret(object),
    ...asUser(how.as),
    ...fenceOf(context, how.dryRun !== true, how.subresource === undefined && object.kind !== 'Event'),
  });
  return asObject(context, path, answer);
}

/** JSON allows these characters unescaped. YAML 1.1 (5.1, 5.4) refuses them or treats them as line breaks. */
const ESCAPED_IN_YAML = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

function yamlOf(object: KubeObject): string {
  return JSON.stringify(object).replace(ESCAPED_IN_YAML, unicodeEscape);
}

/** Patches an object. A repeated patch fails, because the resourceVersion has changed. A dry run changes no version. */
export async function patchObject(
  context: RequestContext,
  object: KubeObject,
  operations: readonly JsonPatchOperation[],
  { dryRun, as }: PatchOptions,
): Promise<KubeObject> {
  const { name, namespace, resourceVersion = '' } = object.metadata;
  const resource = await resourceOf(context, { ...object, ...withNamespace(namespace), name });
  const query = new URLSearchParams({ fieldManager: context.fieldManager, fieldValidation: 'Strict' });
  if (dryRun === true) query.set('dryRun', 'All');
  const path = `${objectPath(resource, namespace, name)}?${query}`;
  const unmoved = { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion };
  const preconditions = dryRun === true ? [] : [unmoved];
  const answer = await sendForJson(context.api, {
    method: 'PATCH',
    path,
    body: JSON.stringify([...preconditions, ...operations]),
    contentType: 'application/json-patch+json',
    repeatable: true,
    secret: isSecret(object),
    ...asUser(as),
    ...fenceOf(context, dryRun !== true, true),
  });
  return asObject(context, path, answer);
}

interface Preconditions {
  readonly uid: string;
  readonly resourceVersion?: string;
}

/** Deletes an object. The uid is a precondition, so a repeated deletion cannot delete a new object with the name. */
export async function removeObject(
  context: RequestContext,
  id: ResourceId,
  preconditions: Preconditions,
  as: string | undefined,
): Promise<void> {
  const path = objectPath(await resourceOf(context, id), id.namespace, id.name);
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground', preconditions };
  try {
    await context.api.send({
      method: 'DELETE',
      path,
      body: JSON.stringify(options),
      contentType: 'application/json',
      repeatable: true,
      secret: isSecret(id),
      ...asUser(as),
      ...fenceOf(context, true, true),
    });
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'cluster-not-found') throw error;
  }
}

/**
 * Creates or replaces an object. Not repeated after a lost response, because the second attempt would fail if the first
 * had succeeded.
 */
export async function storeObject(
  context: RequestContext,
  object: KubeObject,
  method: 'POST' | 'PUT',
): Promise<KubeObject> {
  const { name, namespace } = object.metadata;
  const resource = await resourceOf(context, { ...object, ...withNamespace(namespace), name });
  const base = method === 'POST' ? collectionPath(resource, namespace) : objectPath(resource, namespace, name);
  const path = `${base}?${new URLSearchParams({ fieldManager: context.fieldManager, fieldValidation: 'Strict' })}`;
  const answer = await sendForJson(context.api, {
    method,
    path,
    body: JSON.stringify(object),
    contentType: 'application/json',
    repeatable: false,
    secret: isSecret(object),
    urgent: true,
  });
  return asObject(context, path, answer);
}

function asObject({ api }: RequestContext, path: string, value: unknown): KubeObject {
  if (isKubeObject(value)) return value;
  throw unexpected(api.url(path), 'the answer is not an object');
}

function fenceOf(context: RequestContext, writes: boolean, changes: boolean): { fence?: () => void } {
  const { fence, limit } = context;
  if (!writes || (fence === undefined && limit === undefined)) return {};
  return {
    fence() {
      fence?.(changes);
      if (changes) assertInTime(context);
    },
  };
}

function assertInTime({ limit, clock }: RequestContext): void {
  if (limit === undefined || clock.monotonic() < limit.changesUntil) return;
  throw new Failure('cluster-deadline', `the run is at its end (${limit.setting}): the next run goes on here`);
}

function asUser(as: string | undefined): { as?: string } {
  return as === undefined ? {} : { as };
}

function withNamespace(namespace: string | undefined): { namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

function isSecret({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return apiVersion === 'v1' && kind === 'Secret';
}
