// What is wrong with the settings of an embedded authorization server that neither schema nor CEL can say.

import type { Static } from '#std/schema.ts';
import type { Finding } from '../kind.ts';
import type { EmbeddedAuthServer } from './auth-server.ts';
import { plainHttpFindings, scopeFindings } from './external-auth-checks.ts';
import { plainHeaderFindings } from './header-findings.ts';

type AuthServer = Static<typeof EmbeddedAuthServer>;
type Upstream = AuthServer['upstreamProviders'][number];
type UserInfo = NonNullable<Upstream['oauth2Config']>['userInfo'];

export function authServerFindings({ upstreamProviders }: AuthServer, pointer: string): readonly Finding[] {
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
    ...userInfoFindings(config.userInfoOverride, `${pointer}/userInfoOverride`),
  ];
}

function oauth2Findings(config: Upstream['oauth2Config'], pointer: string): readonly Finding[] {
  if (config === undefined) return [];
  return [
    ...plainHttpFindings(config.authorizationEndpoint, `${pointer}/authorizationEndpoint`),
    ...plainHttpFindings(config.tokenEndpoint, `${pointer}/tokenEndpoint`),
    ...scopeFindings(config.scopes, `${pointer}/scopes`),
    ...userInfoFindings(config.userInfo, `${pointer}/userInfo`),
  ];
}

function userInfoFindings(userInfo: UserInfo | undefined, pointer: string): readonly Finding[] {
  if (userInfo === undefined) return [];
  return [
    ...plainHttpFindings(userInfo.endpointUrl, `${pointer}/endpointUrl`),
    ...plainHeaderFindings(userInfo.additionalHeaders ?? {}, `${pointer}/additionalHeaders`),
  ];
}
