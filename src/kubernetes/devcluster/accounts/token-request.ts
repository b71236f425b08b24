// Serves `serviceaccounts/token`: creates a token of a service account with the requested audiences and lifetime
// (Kubernetes documentation, "TokenRequest API").

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { readObject } from '../api/body/body.ts';
import { type ApiContext, timestamp } from '../api/context.ts';
import type { ApiRequest } from '../api/request.ts';
import { apiError, badRequest, type Cause, invalid, methodNotAllowed } from '../api/status.ts';
import { type AccountSigner, CLUSTER_ISSUER } from './signer.ts';

const TOKEN_REQUEST = { group: 'authentication.k8s.io', plural: 'tokenrequests', kind: 'TokenRequest' };
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

const BOUND: Readonly<Record<string, { readonly collection: string; readonly namespaced: boolean }>> = {
  Pod: { collection: '/pods', namespaced: true },
  Secret: { collection: '/secrets', namespaced: true },
};

/** Throws Failures with a Status. */
export function requestToken(context: ApiContext, signer: AccountSigner, request: ApiRequest): JsonObject {
  if (request.verb !== 'create') throw methodNotAllowed();
  const { namespace = '', name = '' } = request;
  const account = context.store.get({ collection: '/serviceaccounts', namespace, name });
  if (account === undefined) throw gone('serviceaccounts', name);
  const { value } = readObject(request, TOKEN_REQUEST.kind);
  const spec = readSpec(value.spec);
  const given = isObject(value.metadata) ? value.metadata : {};
  const causes = [...nameCauses(given.name, name), ...expiryCauses(spec.expirationSeconds)];
  if (causes.length > 0) throw invalid(TOKEN_REQUEST, String(given.name ?? ''), causes);
  const { token, expiresAt } = issueToken(context, signer, account, {
    ...spec,
    bound: findBound(context, request, spec),
  });
  return {
    kind: TOKEN_REQUEST.kind,
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, uid: account.metadata.uid, creationTimestamp: timestamp(context) },
    spec: {
      audiences: [...spec.audiences],
      expirationSeconds: spec.expirationSeconds,
      boundObjectRef: spec.boundObjectRef ?? null,
    },
    status: { token, expirationTimestamp: `${new Date(expiresAt * 1000).toISOString().slice(0, 19)}Z` },
  };
}

export interface TokenOrder {
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly bound?: KubeObject | undefined;
}

/** Creates a token. `expiresAt` is in seconds since 1970. */
export function issueToken(
  context: ApiContext,
  signer: AccountSigner,
  { metadata: { name, namespace = '', uid = '' } }: KubeObject,
  { audiences, expirationSeconds, bound }: TokenOrder,
): { readonly token: string; readonly expiresAt: number } {
  const now = Math.floor(context.now() / 1000);
  const expiresAt = now + expirationSeconds;
  const boundTo: JsonObject =
    bound === undefined
      ? {}
      : { [bound.kind.toLowerCase()]: { name: bound.metadata.name, uid: bound.metadata.uid ?? '' } };
  const token = signer.sign({
    aud: [...audiences],
    exp: expiresAt,
    iat: now,
    iss: CLUSTER_ISSUER,
    jti: context.newUid(),
    'kubernetes.io': { namespace, ...boundTo, serviceaccount: { name, uid } },
    nbf: now,
    sub: `system:serviceaccount:${namespace}:${name}`,
  });
  return { token, expiresAt };
}

interface RequestSpec {
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly boundObjectRef: JsonObject | undefined;
}

function readSpec(value: Json | undefined): RequestSpec {
  const { audiences, expirationSeconds, boundObjectRef }: JsonObject = isObject(value) ? value : {};
  const named = Array.isArray(audiences) ? audiences : [];
  if (!named.every((each) => typeof each === 'string')) throw badRequest('spec.audiences must be a list of strings');
  const seconds = expirationSeconds ?? DEFAULT_SECONDS;
  if (typeof seconds !== 'number') throw badRequest('spec.expirationSeconds must be a number');
  return {
    audiences: named.length === 0 ? [CLUSTER_ISSUER] : named,
    expirationSeconds: seconds,
    boundObjectRef: isObject(boundObjectRef) ? boundObjectRef : undefined,
  };
}

function nameCauses(given: Json | undefined, name: string): readonly Cause[] {
  if (given === undefined || given === '' || given === name) return [];
  const message = `Invalid value: ${JSON.stringify(given)}: must match the service account name if specified`;
  return [{ reason: 'FieldValueInvalid', message, field: 'metadata.name' }];
}

function expiryCauses(seconds: number): readonly Cause[] {
  const why =
    seconds < MIN_SECONDS
      ? 'may not specify a duration less than 10 minutes'
      : seconds > MAX_SECONDS
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined;
  if (why === undefined) return [];
  return [
    { reason: 'FieldValueInvalid', message: `Invalid value: ${seconds}: ${why}`, field: 'spec.expirationSeconds' },
  ];
}

function findBound({ store }: ApiContext, { namespace = '' }: ApiRequest, { boundObjectRef }: RequestSpec) {
  if (boundObjectRef === undefined) return undefined;
  const { kind, name, uid } = boundObjectRef;
  const found = BOUND[String(kind)];
  if (found === undefined) throw badRequest(`cannot bind token for serviceaccount to object of type ${kind}`);
  const object = store.get({ collection: found.collection, namespace, name: String(name ?? '') });
  if (object === undefined) throw gone(found.collection.slice(1), String(name ?? ''));
  if (uid === undefined || uid === '' || uid === object.metadata.uid) return object;
  const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  throw apiError(409, 'Conflict', `Operation cannot be fulfilled on ${found.collection.slice(1)} "${name}": ${why}`, {
    name: object.metadata.name,
    kind: found.collection.slice(1),
  });
}

function gone(plural: string, name: string): Error {
  return apiError(404, 'NotFound', `${plural} "${name}" not found`, { name, kind: plural });
}
