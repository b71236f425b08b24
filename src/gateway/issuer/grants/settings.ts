// Validates the settings of trusted issuers and delegate clients, and adds defaults.

import type { AuthServerConfig } from '#contracts/auth-server/config.ts';
import { assertionAudiences, isSameResource, knownResource } from '#contracts/auth-server/resources.ts';
import { roleMatcher } from '#contracts/role-matcher.ts';
import { parseDuration } from '#std/duration.ts';
import type { JsonObject } from '#std/json.ts';
import { configInvalid, isProtected } from '../config-fault.ts';

type IssuerBlock = NonNullable<AuthServerConfig['trusted_issuers']>[number];
type BearerBlock = NonNullable<IssuerBlock['jwt_bearer_grant']>;
type ClientBlock = NonNullable<AuthServerConfig['delegate_clients']>[number];

/** Name in the settings that stands for all delegate clients. */
const ANY_CLIENT = '*';
const ACTOR_CLAIM = 'azp';

/** Settings for exchanging tokens of an issuer (RFC 8693). */
export interface Delegation {
  readonly audience: string;
  readonly actorClaim: string;
  /** Values of the claim `actorClaim` that allow the exchange. */
  readonly actors: readonly string[];
  /** Returns true if the claims allow the exchange, in addition to `actors`. */
  readonly matches: (claims: JsonObject) => boolean;
  /** True if the issuer may name a client in `may_act`. */
  readonly mayAct: boolean;
  readonly permits: (client: string) => boolean;
}

/** Settings for accepting assertions of an issuer as grants (RFC 7523). */
export interface BearerGrant {
  readonly maxAgeMs: number;
  readonly audiences: readonly [string, ...string[]];
  /** Allowed resources by subject. */
  readonly bindings: ReadonlyMap<string, readonly string[]>;
}

export interface TrustedIssuer {
  readonly issuer: string;
  readonly jwksUrl?: string;
  readonly allowPrivate: boolean;
  readonly delegation?: Delegation;
  readonly bearer?: BearerGrant;
}

export interface DelegateClient {
  readonly id: string;
  readonly secretFile?: string;
  readonly secretVariable?: string;
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
}

/** Returns the trusted issuers. Throws Failure `issuer-config-invalid`. */
export function trustedIssuers(config: AuthServerConfig): readonly TrustedIssuer[] {
  const blocks = config.trusted_issuers ?? [];
  return blocks.map((block, index) => {
    const pointer = `/trusted_issuers/${index}`;
    const { issuer_url: issuer, jwks_url: jwksUrl, allow_private_ips: allowPrivate = false } = block;
    if (issuer === config.issuer) throw configInvalid(`${pointer}/issuer_url`, 'is this server itself');
    if (blocks.findIndex((each) => each.issuer_url === issuer) !== index)
      throw configInvalid(`${pointer}/issuer_url`, 'is there already');
    checkKeyUrl(block, issuer, `${pointer}/issuer_url`);
    if (jwksUrl !== undefined) checkKeyUrl(block, jwksUrl, `${pointer}/jwks_url`);
    // A document of the issuer must not lead to private addresses.
    if (allowPrivate && jwksUrl === undefined) throw configInvalid(`${pointer}/allow_private_ips`, 'needs jwks_url');
    const delegation = delegationOf(block, config, pointer);
    const bearer = block.jwt_bearer_grant && bearerOf(block.jwt_bearer_grant, config, `${pointer}/jwt_bearer_grant`);
    // A token that delegate clients exchange must not be usable as an assertion.
    if (delegation !== undefined && bearer?.audiences.some((each) => isSameResource(each, delegation.audience)))
      throw configInvalid(`${pointer}/expected_audience`, `is ${delegation.audience}, an audience of assertions`);
    if (delegation === undefined && bearer === undefined)
      throw configInvalid(pointer, 'needs expected_audience or jwt_bearer_grant: nothing of it would be accepted');
    return { issuer, jwksUrl, allowPrivate, delegation, bearer };
  });
}

function checkKeyUrl({ insecure_allow_http: http = false }: IssuerBlock, text: string, pointer: string): void {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (http && url?.protocol === 'http:');
  if (url === null || !isSafe || url.username + url.password !== '' || url.hash !== '')
    throw configInvalid(
      pointer,
      'must be an https URL without credentials and fragment (http with insecure_allow_http)',
    );
}

function delegationOf(block: IssuerBlock, config: AuthServerConfig, pointer: string): Delegation | undefined {
  const { expected_audience: audience, actor_claim: actorClaim = ACTOR_CLAIM, allowed_actors: actors = [] } = block;
  const { actor_matcher: expression, allow_may_act: mayAct = false, allowed_delegate_clients: clients = [] } = block;
  if (audience === undefined) {
    const idle = block.actor_claim !== undefined || expression !== undefined || mayAct || actors.length > 0;
    if (idle) throw configInvalid(`${pointer}/expected_audience`, 'is missing, and other settings need it');
    return undefined;
  }
  const isAny = clients.includes(ANY_CLIENT);
  if (clients.length === 0) throw configInvalid(`${pointer}/allowed_delegate_clients`, 'is missing');
  if (isAny && (clients.length > 1 || mayAct)) {
    throw configInvalid(
      `${pointer}/allowed_delegate_clients`,
      'must name clients: "*" goes with neither others nor allow_may_act',
    );
  }
  const known = (config.delegate_clients ?? []).map(({ client_id: id }) => id);
  const unknown = isAny ? undefined : clients.find((client) => !known.includes(client));
  if (unknown !== undefined)
    throw configInvalid(`${pointer}/allowed_delegate_clients`, `names ${unknown}, which is not in /delegate_clients`);
  return {
    ...{ audience, actorClaim, actors, mayAct },
    matches: actorTest(expression, `${pointer}/actor_matcher`),
    permits: (client) => isAny || clients.includes(client),
  };
}

function actorTest(expression: string | undefined, pointer: string): Delegation['matches'] {
  if (expression === undefined) return () => false;
  const matcher = roleMatcher(expression);
  if (matcher.type === 'fault') throw configInvalid(pointer, `is not a CEL expression over claims: ${matcher.message}`);
  return matcher.matches;
}

function bearerOf(block: BearerBlock, config: AuthServerConfig, pointer: string): BearerGrant {
  const { accepted_audiences: accepted, max_assertion_age: age, subject_bindings: bindings } = block;
  const maxAgeMs = parseDuration(age) ?? 0;
  if (maxAgeMs <= 0) throw configInvalid(`${pointer}/max_assertion_age`, `must be a duration above 0, not ${age}`);
  const audiences = assertionAudiences(config.issuer, accepted);
  // A token for a resource must not be usable as an assertion for this server.
  const both = audiences.find((audience) => config.allowed_audiences.some((known) => isSameResource(known, audience)));
  if (both !== undefined) throw configInvalid(`${pointer}/accepted_audiences`, `names ${both}, which is a resource`);
  for (const [index, { subject, allowed_resources: resources }] of bindings.entries()) {
    const at = `${pointer}/subject_bindings/${index}`;
    if (bindings.findIndex((each) => each.subject === subject) !== index)
      throw configInvalid(`${at}/subject`, 'is there already');
    checkResources(config, resources, `${at}/allowed_resources`);
  }
  return {
    maxAgeMs,
    audiences,
    bindings: new Map(bindings.map(({ subject, allowed_resources: resources }) => [subject, resources])),
  };
}

function checkResources({ allowed_audiences: known }: AuthServerConfig, resources: readonly string[], pointer: string) {
  const unknown = resources.find((resource) => knownResource(known, resource) === undefined);
  if (unknown !== undefined)
    throw configInvalid(pointer, `names ${unknown}, which is not in /allowed_audiences: ${known.join(', ')}`);
}

/** Returns the delegate clients. Throws Failure `issuer-config-invalid`. */
export function delegateClients(config: AuthServerConfig): readonly DelegateClient[] {
  const { delegate_clients: blocks = [], scopes_supported: scopes, issuer } = config;
  const url = URL.parse(issuer);
  if (blocks.length > 0 && (url === null || !isProtected(url)))
    throw configInvalid('/delegate_clients', 'need an https issuer: their secrets would be sent in the clear');
  return blocks.map((block, index) => {
    const pointer = `/delegate_clients/${index}`;
    if (blocks.findIndex(({ client_id: id }) => id === block.client_id) !== index)
      throw configInvalid(`${pointer}/client_id`, 'is there already');
    const unknown = block.scopes.find((scope) => !scopes.includes(scope));
    if (unknown !== undefined)
      throw configInvalid(`${pointer}/scopes`, `names ${unknown}, which is not in /scopes_supported`);
    checkResources(config, block.audiences, `${pointer}/audiences`);
    return delegateOf(block);
  });
}

function delegateOf({ client_id: id, scopes, audiences, ...secret }: ClientBlock): DelegateClient {
  return {
    ...{ id, scopes, audiences },
    secretFile: secret.client_secret_file,
    secretVariable: secret.client_secret_env_var,
  };
}
