// Handles service accounts as an API server does: verifies tokens, publishes the public keys, and creates the tokens of
// pods.

import { isObject, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ApiContext } from '../api/context.ts';
import { notAcceptable } from '../api/status.ts';
import { type AccountSigner, CLUSTER_ISSUER, SIGNING_ALGORITHM } from './signer.ts';
import { issueToken } from './token-request.ts';

const DISCOVERY_PATH = '/.well-known/openid-configuration';
const KEYS_PATH = '/openid/v1/jwks';

/**
 * Media type of each document, by its path. In an Accept header, a kube-apiserver accepts the wildcard for all types,
 * but no other wildcard.
 */
const TYPES: Readonly<Record<string, string>> = {
  [DISCOVERY_PATH]: 'application/json',
  [KEYS_PATH]: 'application/jwk-set+json',
};

export interface IssuerDocument {
  readonly contentType: string;
  readonly body: string;
}

/**
 * Returns the document at the path. undefined for any other path. Throws 406 if the client does not accept the
 * document's media type.
 */
export function issuerDocument(
  signer: AccountSigner,
  address: string,
  path: string,
  accept: string,
): IssuerDocument | undefined {
  const contentType = Object.hasOwn(TYPES, path) ? TYPES[path] : undefined;
  if (contentType === undefined) return undefined;
  const ranges = accept.split(',').map((range) => (range.split(';')[0] ?? '').trim().toLowerCase());
  if (!ranges.some((range) => ['', '*/*', contentType].includes(range))) throw notAcceptable([contentType]);
  return { contentType, body: JSON.stringify(path === KEYS_PATH ? signer.keys : discovery(address)) };
}

function discovery(address: string): JsonObject {
  return {
    issuer: CLUSTER_ISSUER,
    jwks_uri: `https://${address}${KEYS_PATH}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [SIGNING_ALGORITHM],
  };
}

/**
 * Returns the user of a token for this API server. undefined if the token is invalid, expired or for another audience,
 * or if its account or pod was deleted.
 */
export function accountOf(context: ApiContext, signer: AccountSigner, token: string): string | undefined {
  const claims = signer.verify(token);
  if (claims === undefined || claims.iss !== CLUSTER_ISSUER || Number(claims.exp) * 1000 <= context.now())
    return undefined;
  if (!Array.isArray(claims.aud) || !claims.aud.includes(CLUSTER_ISSUER)) return undefined;
  const bound = claims['kubernetes.io'];
  if (!isObject(bound) || !isObject(bound.serviceaccount)) return undefined;
  const namespace = String(bound.namespace);
  const exists = (collection: string, { name, uid }: JsonObject) =>
    context.store.get({ collection, namespace, name: String(name) })?.metadata.uid === uid;
  if (!exists('/serviceaccounts', bound.serviceaccount)) return undefined;
  if (isObject(bound.pod) && !exists('/pods', bound.pod)) return undefined;
  return `system:serviceaccount:${namespace}:${bound.serviceaccount.name}`;
}

/**
 * True if a service account may send the request. RBAC is not evaluated: every account may read only the documents that
 * every account of a new cluster may read.
 */
export function isForAccounts(method: string, path: string): boolean {
  return method === 'GET' && (path === DISCOVERY_PATH || path === KEYS_PATH || /^\/apis?$/.test(path));
}

const POD_TOKEN_SECONDS = 3607;

export interface PodAccount {
  readonly token: string;
  /** Time in milliseconds since 1970 after which the token must be renewed. */
  readonly renewAt: number;
}

/**
 * Creates the token that a pod mounts. undefined if the account does not exist, or if the account or pod disables the
 * mount.
 */
export function podToken(context: ApiContext, signer: AccountSigner, pod: KubeObject): PodAccount | undefined {
  const spec = isObject(pod.spec) ? pod.spec : {};
  const name = typeof spec.serviceAccountName === 'string' ? spec.serviceAccountName : 'default';
  const { namespace = '' } = pod.metadata;
  const account = context.store.get({ collection: '/serviceaccounts', namespace, name });
  if (account === undefined) return undefined;
  if ((spec.automountServiceAccountToken ?? account.automountServiceAccountToken) === false) return undefined;
  const order = { audiences: [CLUSTER_ISSUER], expirationSeconds: POD_TOKEN_SECONDS, bound: pod };
  const { token } = issueToken(context, signer, account, order);
  return { token, renewAt: context.now() + POD_TOKEN_SECONDS * 800 };
}
