// Finds mistakes in the settings of an embedded authorization server that neither schema nor CEL can express.

import { isReservedParameter } from '#contracts/auth-server/config.ts';
import { isLoopback, isWebRedirect } from '#std/address/loopback.ts';
import { pointerToken } from '#std/json.ts';
import type { Finding } from '../../kind.ts';
import { placeOfUrl } from '../../proxy/url-places.ts';
import { fieldWithoutEffect } from '../../without-effect.ts';
import { plainHttpFindings, scopeFindings } from '../external-auth-checks.ts';
import { plainHeaderFindings } from '../header-findings.ts';
import { type AuthServer, providerFault } from './providers.ts';
import { trustFindings } from './trust-rules.ts';

type Upstream = AuthServer['upstreamProviders'][number];
type OAuth2 = NonNullable<Upstream['oauth2Config']>;
type UserInfo = NonNullable<OAuth2['userInfo']>;

export function authServerFindings(server: AuthServer, pointer: string): readonly Finding[] {
  return [
    ...scopeFindings(server.baselineClientScopes, `${pointer}/baselineClientScopes`),
    ...primaryFindings(server, pointer),
    ...plainHttpFindings(server.issuer, `${pointer}/issuer`),
    ...plainHttpFindings(server.authorizationEndpointBaseUrl ?? '', `${pointer}/authorizationEndpointBaseUrl`),
    ...confidentialFindings(server, pointer),
    ...trustFindings(server, pointer),
    ...upstreamFindings(server, pointer),
    ...storageFindings(server.storage.redis, `${pointer}/storage/redis`),
  ];
}

function primaryFindings(server: AuthServer, pointer: string): readonly Finding[] {
  const { primaryUpstreamProvider: primary } = server;
  const fault = primary === undefined ? undefined : providerFault(primary, server);
  if (fault === undefined) return [];
  const at = `${pointer}/primaryUpstreamProvider`;
  return [{ code: 'upstream-provider-unknown', severity: 'error', pointer: at, message: `the server ${fault}` }];
}

/** Finds settings for confidential clients with which the server would not start, or that have no effect. */
function confidentialFindings(
  {
    issuer,
    allowConfidentialClientRegistration: allowed = false,
    forceConfidentialRedirectUris: forced = [],
    insecureAllowConfidentialOverLoopbackHTTP: overHttp = false,
  }: AuthServer,
  pointer: string,
): readonly Finding[] {
  const isPlain = URL.parse(issuer)?.protocol === 'http:';
  const open = allowed && isPlain && !(overHttp && !isOpenHttp(issuer));
  const idle = overHttp && !(allowed && isPlain);
  const message =
    'secrets of clients would be sent unencrypted: use an https issuer, or set insecureAllowConfidentialOverLoopbackHTTP to try it';
  return [
    ...(open ? [confidentialFinding(`${pointer}/allowConfidentialClientRegistration`, message)] : []),
    ...(idle
      ? [
          fieldWithoutEffect(
            `${pointer}/insecureAllowConfidentialOverLoopbackHTTP`,
            'it only has an effect for an http issuer with allowConfidentialClientRegistration',
          ),
        ]
      : []),
    ...forced.flatMap((uri, index) =>
      isWebRedirect(uri)
        ? []
        : [
            confidentialFinding(
              `${pointer}/forceConfidentialRedirectUris/${index}`,
              'an app on loopback cannot keep a secret',
            ),
          ],
    ),
  ];
}

function storageFindings(redis: AuthServer['storage']['redis'], pointer: string): readonly Finding[] {
  if (redis?.sentinelTls === undefined || redis.sentinelConfig !== undefined) return [];
  return [fieldWithoutEffect(`${pointer}/sentinelTls`, 'Redis is reached by addr, without Sentinels')];
}

function confidentialFinding(pointer: string, message: string): Finding {
  return { code: 'auth-server-confidential', severity: 'error', pointer, message };
}

function upstreamFindings({ upstreamProviders }: AuthServer, pointer: string): readonly Finding[] {
  return upstreamProviders.flatMap((upstream, index) => {
    const place = `${pointer}/upstreamProviders/${index}`;
    return [
      ...oidcFindings(upstream.oidcConfig, `${place}/oidcConfig`),
      ...oauth2Findings(upstream.oauth2Config, `${place}/oauth2Config`),
    ];
  });
}

function oidcFindings(config: Upstream['oidcConfig'], pointer: string): readonly Finding[] {
  if (config === undefined) return [];
  return [
    ...scopeFindings(config.scopes, `${pointer}/scopes`),
    ...parameterFindings(config, pointer),
    ...userInfoFindings(config.userInfoOverride, `${pointer}/userInfoOverride`),
    ...subjectFindings(config, pointer),
  ];
}

function subjectFindings(
  { subjectClaim = '', userInfoOverride }: NonNullable<Upstream['oidcConfig']>,
  pointer: string,
): readonly Finding[] {
  if (subjectClaim === '' || userInfoOverride?.fieldMapping?.subjectFields === undefined) return [];
  const at = `${pointer}/userInfoOverride/fieldMapping/subjectFields`;
  return [fieldWithoutEffect(at, 'subjectClaim counts instead, and the endpoint has to name the same sub')];
}

function oauth2Findings(config: Upstream['oauth2Config'], pointer: string): readonly Finding[] {
  if (config === undefined) return [];
  return [
    ...endpointFindings(config, pointer),
    ...scopeFindings(config.scopes, `${pointer}/scopes`),
    ...parameterFindings(config, pointer),
    ...plainHeaderFindings(config.userInfo?.additionalHeaders ?? {}, `${pointer}/userInfo/additionalHeaders`),
    ...(config.userInfo === undefined || config.identityFromToken === undefined
      ? []
      : [fieldWithoutEffect(`${pointer}/userInfo`, 'identityFromToken counts instead')]),
  ];
}

/**
 * Checks URLs that the author wrote. http and private addresses are errors only if the manifest contains `false` for
 * their setting. If the manifest does not set insecureAllowHTTP, http to a host outside the cluster causes a warning.
 */
function endpointFindings(
  { authorizationEndpoint, tokenEndpoint, userInfo, dcrConfig = {}, insecureAllowHTTP: http, allowPrivateIPs }: OAuth2,
  pointer: string,
): readonly Finding[] {
  const registration = (['discoveryUrl', 'registrationEndpoint'] as const).flatMap((field) => {
    const { [field]: url } = dcrConfig;
    return url === undefined ? [] : [{ url, at: `${pointer}/dcrConfig/${field}`, isCalled: true }];
  });
  const named = [
    ...registration,
    { url: authorizationEndpoint, at: `${pointer}/authorizationEndpoint`, isCalled: false },
    { url: tokenEndpoint, at: `${pointer}/tokenEndpoint`, isCalled: true },
    ...(userInfo === undefined
      ? []
      : [{ url: userInfo.endpointUrl, at: `${pointer}/userInfo/endpointUrl`, isCalled: true }]),
  ];
  return named.flatMap(({ url, at, isCalled }) => [
    ...(http === undefined ? plainHttpFindings(url, at) : []),
    ...(http === false && isOpenHttp(url)
      ? [refusedFinding(at, 'http is refused, because insecureAllowHTTP is false')]
      : []),
    ...(allowPrivateIPs === false && isCalled && isPrivatePlace(url)
      ? [refusedFinding(at, 'the host is inside a private network, and allowPrivateIPs is false')]
      : []),
  ]);
}

function isOpenHttp(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'http:' && !isLoopback(url.hostname);
}

function isPrivatePlace(url: string): boolean {
  return URL.canParse(url) && placeOfUrl(url).place !== undefined;
}

function refusedFinding(pointer: string, message: string): Finding {
  return { code: 'upstream-endpoint-refused', severity: 'error', pointer, message };
}

function parameterFindings(
  { additionalAuthorizationParams: more = {} }: Pick<OAuth2, 'additionalAuthorizationParams'>,
  pointer: string,
): readonly Finding[] {
  return Object.keys(more)
    .filter(isReservedParameter)
    .map((name): Finding => {
      const at = `${pointer}/additionalAuthorizationParams/${pointerToken(name)}`;
      const message = `${name} belongs to the protocol: the authorization server sets it for each login`;
      return { code: 'authorization-parameter-reserved', severity: 'error', pointer: at, message, at: 'key' };
    });
}

function userInfoFindings(userInfo: UserInfo | undefined, pointer: string): readonly Finding[] {
  if (userInfo === undefined) return [];
  return [
    ...plainHttpFindings(userInfo.endpointUrl, `${pointer}/endpointUrl`),
    ...plainHeaderFindings(userInfo.additionalHeaders ?? {}, `${pointer}/additionalHeaders`),
  ];
}
