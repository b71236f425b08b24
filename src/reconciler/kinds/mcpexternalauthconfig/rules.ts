// What is wrong with an MCPExternalAuthConfig that neither its schema nor CEL can say: in itself (rules), and in the Secrets
// that it names (inspect).

import { roleMatcher } from '#contracts/role-matcher.ts';
import type { Static } from '#std/schema.ts';
import { authServerFindings } from '../auth/auth-server-rules.ts';
import { authServerSecretFindings } from '../auth/auth-server-secrets.ts';
import type { ExternalAuth } from '../auth/external-auth.ts';
import { plainHttpFindings, scopeFindings } from '../auth/external-auth-checks.ts';
import { headerNameFindings } from '../auth/header-findings.ts';
import type { Finding, View } from '../kind.ts';

type Spec = Static<typeof ExternalAuth>;
type Mapping = NonNullable<NonNullable<Spec['cloudSts']>['roleMappings']>[number];

export function rules({ spec }: { readonly spec: Spec }): readonly Finding[] {
  const { tokenExchange, headerInjection, embeddedAuthServer, cloudSts } = spec;
  return [
    ...(tokenExchange === undefined ? [] : exchangeFindings(tokenExchange)),
    ...headerNameFindings(headerInjection?.headerName, '/spec/headerInjection/headerName'),
    ...(embeddedAuthServer === undefined ? [] : authServerFindings(embeddedAuthServer, '/spec/embeddedAuthServer')),
    ...(cloudSts === undefined ? [] : mappingFindings(cloudSts)),
  ];
}

export function inspect({ spec }: { readonly spec: Spec }, view: View): readonly Finding[] {
  const { embeddedAuthServer } = spec;
  if (embeddedAuthServer === undefined) return [];
  return authServerSecretFindings(embeddedAuthServer, '/spec/embeddedAuthServer', view);
}

function exchangeFindings(exchange: NonNullable<Spec['tokenExchange']>): readonly Finding[] {
  const { tokenUrl, scopes, clientId, clientSecretRef, externalTokenHeaderName } = exchange;
  const message = 'a client secret means nothing without clientId, and is not sent';
  const pointer = '/spec/tokenExchange/clientSecretRef';
  return [
    ...plainHttpFindings(tokenUrl, '/spec/tokenExchange/tokenUrl'),
    ...scopeFindings(scopes, '/spec/tokenExchange/scopes'),
    ...headerNameFindings(externalTokenHeaderName, '/spec/tokenExchange/externalTokenHeaderName'),
    ...(clientSecretRef === undefined || clientId !== undefined
      ? []
      : [{ code: 'client-secret-unused', severity: 'warning', pointer, message } as const]),
  ];
}

/** In the order in which mappings are tried: what one says decides whether another is ever reached. */
function mappingFindings({ roleMappings = [] }: NonNullable<Spec['cloudSts']>): readonly Finding[] {
  const tried = roleMappings
    .map((mapping, index) => ({ mapping, index }))
    .sort((a, b) => priorityOf(a.mapping) - priorityOf(b.mapping));
  const seen = new Map<string, number>();
  return tried.flatMap(({ mapping, index }) => {
    const { matcher } = mapping;
    const pointer = `/spec/cloudSts/roleMappings/${index}`;
    const test = matcher === undefined ? `claim ${mapping.claim}` : `matcher ${matcher}`;
    const earlier = seen.get(test);
    if (earlier !== undefined)
      return [unreachable(pointer, `never reached: roleMappings[${earlier}] has the same test`)];
    seen.set(test, index);
    return matcher === undefined ? [] : matcherFindings(matcher, pointer);
  });
}

/** A mapping without a priority comes after all that have one; equal ones keep their order. */
function priorityOf({ priority }: Mapping): number {
  return priority ?? Number.MAX_SAFE_INTEGER;
}

function matcherFindings(expression: string, pointer: string): readonly Finding[] {
  const matcher = roleMatcher(expression);
  if (matcher.type === 'fault') {
    const message = `no CEL expression over claims: ${matcher.message}`;
    return [{ code: 'role-matcher-invalid', severity: 'error', pointer: `${pointer}/matcher`, message }];
  }
  if (!matcher.constant) return [];
  if (!matcher.matches({})) return [unreachable(pointer, 'its matcher is true of no token')];
  const message = 'true of every token: no mapping after this one is reached, nor the fallback';
  return [{ code: 'role-matcher-constant', severity: 'warning', pointer: `${pointer}/matcher`, message }];
}

function unreachable(pointer: string, message: string): Finding {
  return { code: 'role-mapping-unreachable', severity: 'warning', pointer, message };
}
