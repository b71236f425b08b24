// Finds mistakes in trusted issuers and delegate clients: the authorization server would not start, or would issue no
// tokens.

import { assertionAudiences, isSameResource, knownResource } from '#contracts/auth-server/resources.ts';
import { roleMatcher } from '#contracts/role-matcher.ts';
import type { Finding } from '../../kind.ts';
import { fieldWithoutEffect } from '../../without-effect.ts';
import { scopeFindings } from '../external-auth-checks.ts';
import type { AuthServer } from './providers.ts';
import { authServerScopes } from './scopes.ts';

type Issuer = NonNullable<AuthServer['trustedIssuers']>[number];
type DelegateSpec = NonNullable<AuthServer['delegateClients']>[number];

export function trustFindings(server: AuthServer, pointer: string): readonly Finding[] {
  const { trustedIssuers: issuers = [], delegateClients: clients = [] } = server;
  return [
    ...issuers.flatMap((issuer, index) => trustedFindings(server, issuer, index, `${pointer}/trustedIssuers/${index}`)),
    ...clients.flatMap(({ clientId, scopes }, index) => {
      const at = `${pointer}/delegateClients/${index}`;
      const isFirst = clients.findIndex((each) => each.clientId === clientId) === index;
      const repeated = isFirst ? [] : [trustFinding(`${at}/clientId`, `client ${clientId} is listed twice`)];
      return [...repeated, ...scopeFindings(scopes, `${at}/scopes`)];
    }),
  ];
}

function trustedFindings(
  { issuer: own, trustedIssuers: all = [], delegateClients = [] }: AuthServer,
  issuer: Issuer,
  index: number,
  at: string,
): readonly Finding[] {
  const { issuerUrl, jwksUrl = issuerUrl, insecureAllowHTTP = false, allowedDelegateClients = [] } = issuer;
  const known = delegateClients.map(({ clientId }) => clientId);
  return [
    ...(issuerUrl === own ? [trustFinding(`${at}/issuerUrl`, 'this server itself needs no trust')] : []),
    ...(all.findIndex((each) => each.issuerUrl === issuerUrl) === index
      ? []
      : [trustFinding(`${at}/issuerUrl`, `issuer ${issuerUrl} is listed twice`)]),
    ...(
      [
        ['issuerUrl', issuerUrl],
        ['jwksUrl', jwksUrl],
      ] as const
    ).flatMap(([field, url]) => {
      if (insecureAllowHTTP || !url.startsWith('http:') || (field === 'jwksUrl' && url === issuerUrl)) return [];
      const message = 'anyone on the network path could sign tokens: use https, or set insecureAllowHTTP for a test';
      return [trustFinding(`${at}/${field}`, message)];
    }),
    ...allowedDelegateClients.flatMap((client, place) => {
      if (client === '*' || known.includes(client)) return [];
      const right = known.length === 0 ? 'there are none' : `there is ${known.join(', ')}`;
      return [
        trustFinding(`${at}/allowedDelegateClients/${place}`, `${client} is not one of delegateClients: ${right}`),
      ];
    }),
    ...matcherFindings(issuer.actorMatcher, `${at}/actorMatcher`),
    ...uselessExchangeFindings(issuer, at),
    ...sharedAudienceFindings(own, issuer, at),
  ];
}

/** Finds an audience with two purposes: a token that delegate clients exchange would also be valid as an assertion. */
function sharedAudienceFindings(
  own: string,
  { expectedAudience, jwtBearerGrant }: Issuer,
  at: string,
): readonly Finding[] {
  if (expectedAudience === undefined || jwtBearerGrant === undefined) return [];
  const audiences = assertionAudiences(own, jwtBearerGrant.acceptedAudiences);
  if (!audiences.some((each) => isSameResource(each, expectedAudience))) return [];
  const message = `${expectedAudience} is also an audience of assertions: a token that is exchanged must not be a grant. Use another one in acceptedAudiences`;
  return [trustFinding(`${at}/expectedAudience`, message)];
}

/** Warns of settings for token exchange if no token of the issuer can be exchanged. */
function uselessExchangeFindings(
  { expectedAudience, allowedActors = [], actorMatcher = '', allowMayAct = false, allowedDelegateClients = [] }: Issuer,
  at: string,
): readonly Finding[] {
  if (expectedAudience === undefined) {
    if (allowedDelegateClients.length === 0) return [];
    return [fieldWithoutEffect(`${at}/allowedDelegateClients`, 'without expectedAudience no token is exchanged')];
  }
  if (allowedActors.length > 0 || actorMatcher !== '' || allowMayAct) return [];
  const needed = 'no token is exchanged without allowedActors, actorMatcher or allowMayAct';
  return [fieldWithoutEffect(`${at}/expectedAudience`, needed)];
}

function matcherFindings(expression: string | undefined, pointer: string): readonly Finding[] {
  if (expression === undefined || expression === '') return [];
  const matcher = roleMatcher(expression);
  if (matcher.type === 'fault')
    return [trustFinding(pointer, `actorMatcher is not a CEL expression over claims: ${matcher.message}`)];
  if (!matcher.constant) return [];
  const message = `actorMatcher is ${matcher.matches({})} for every token: test a claim that only the issuer sets`;
  return [{ code: 'auth-server-trust', severity: 'warning', pointer, message }];
}

/** Scopes of the resource, and audiences of tokens that it accepts. */
export interface TrustHost {
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  /**
   * True if the server behind the proxy receives a token of an upstream provider, which exists only for users who
   * logged in.
   */
  readonly needsLogin: boolean;
}

/** `pointer`: pointer of the authorization server, or of the field that names it. */
export function trustHostFindings(server: AuthServer, host: TrustHost, pointer: string): readonly Finding[] {
  const { trustedIssuers: issuers = [], delegateClients: clients = [] } = server;
  const idle = host.needsLogin && issuers.length > 0 ? [idleFinding(pointer, NO_LOGIN)] : [];
  // If the resource's URL is not set, its audiences are unknown here. The authorization server checks them when it
  // starts.
  const ofClients = clients.flatMap((client) => clientFindings(client, host, pointer));
  if (host.audiences.length === 0) return [...ofClients, ...idle];
  const foreign = issuers.find(({ expectedAudience }) => {
    return expectedAudience !== undefined && !host.audiences.some((each) => isSameResource(each, expectedAudience));
  });
  const bearers = issuers.flatMap(({ jwtBearerGrant: bearer }) => (bearer === undefined ? [] : [bearer]));
  const resources = [
    ...clients.flatMap(({ audiences }) => audiences),
    ...bearers.flatMap(({ subjectBindings }) => subjectBindings.flatMap((each) => each.allowedResources)),
  ];
  const accepted = bearers.flatMap(({ acceptedAudiences: audiences }) => assertionAudiences(server.issuer, audiences));
  const known = host.audiences.join(', ');
  return [
    ...ofClients,
    ...resources
      .filter((resource) => knownResource(host.audiences, resource) === undefined)
      .map((each) =>
        trustFinding(pointer, `${each} is not a resource of the authorization server, which are ${known}`),
      ),
    ...accepted
      .filter((audience) => host.audiences.some((each) => isSameResource(each, audience)))
      .map((each) =>
        trustFinding(
          pointer,
          `acceptedAudiences names ${each}, which is a resource: a token for it must not be a grant`,
        ),
      ),
    ...(foreign === undefined
      ? []
      : [
          idleFinding(
            pointer,
            `tokens of ${foreign.issuerUrl} are for ${foreign.expectedAudience}, and are exchanged for tokens for ${known} only`,
          ),
        ]),
    ...idle,
  ];
}

const NO_LOGIN =
  'subjects of trustedIssuers have no login at an upstream provider, whose token the server behind gets: their calls are refused. Set disableUpstreamTokenInjection';

/** Returns the accepted audiences; an empty list if the resource's URL is not set. */
export function acceptedAudiences({
  resource_url: url,
  audience,
}: {
  readonly resource_url: string;
  readonly audience?: string;
}): readonly string[] {
  return url === '' ? [] : [url, ...(audience === undefined ? [] : [audience])];
}

function clientFindings({ clientId, scopes }: DelegateSpec, host: TrustHost, pointer: string): readonly Finding[] {
  const given = authServerScopes(host.scopes);
  const unknown = scopes.filter((scope) => !given.includes(scope));
  if (unknown.length === 0) return [];
  const message = `client ${clientId} of delegateClients names ${unknown.join(', ')}: the authorization server gives ${given.join(', ')}`;
  return [{ code: 'auth-server-scopes', severity: 'error', pointer, message }];
}

function trustFinding(pointer: string, message: string): Finding {
  return { code: 'auth-server-trust', severity: 'error', pointer, message };
}

function idleFinding(pointer: string, message: string): Finding {
  return { code: 'auth-server-trust', severity: 'warning', pointer, message };
}
