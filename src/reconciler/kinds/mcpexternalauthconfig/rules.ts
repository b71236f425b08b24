// Finds mistakes in an MCPExternalAuthConfig that neither its schema nor CEL can express: in the resource (rules), and
// in the Secrets that it names (inspect).

import type { Static } from '#std/schema.ts';
import type { ExternalAuth } from '../auth/external-auth.ts';
import { plainHttpFindings, scopeFindings } from '../auth/external-auth-checks.ts';
import { headerNameFindings } from '../auth/header-findings.ts';
import { mappingFindings } from '../auth/role-mapping-findings.ts';
import { authServerFindings } from '../auth/server/rules.ts';
import { authServerSecretFindings } from '../auth/server/secrets.ts';
import type { Finding, View } from '../kind.ts';

type Spec = Static<typeof ExternalAuth>;

export function rules({ spec }: { readonly spec: Spec }): readonly Finding[] {
  const { tokenExchange, headerInjection, embeddedAuthServer, cloudSts, xaa } = spec;
  return [
    ...(tokenExchange === undefined ? [] : exchangeFindings(tokenExchange)),
    ...(xaa === undefined ? [] : accessFindings(xaa)),
    ...headerNameFindings(headerInjection?.headerName, '/spec/headerInjection/headerName'),
    ...(embeddedAuthServer === undefined ? [] : authServerFindings(embeddedAuthServer, '/spec/embeddedAuthServer')),
    ...(cloudSts === undefined ? [] : mappingFindings(cloudSts.roleMappings, '/spec/cloudSts/roleMappings')),
  ];
}

function accessFindings(xaa: NonNullable<Spec['xaa']>): readonly Finding[] {
  const at = '/spec/xaa';
  const unused = [
    { secret: xaa.idpClientSecretRef, id: xaa.idpClientId, field: 'idpClient' },
    { secret: xaa.targetClientSecretRef, id: xaa.targetClientId, field: 'targetClient' },
  ].filter(({ secret, id = '' }) => secret !== undefined && id === '');
  return [
    ...plainHttpFindings(xaa.targetTokenUrl, `${at}/targetTokenUrl`),
    ...scopeFindings(xaa.scopes, `${at}/scopes`),
    ...unused.map(({ field }): Finding => {
      const message = `a client secret means nothing without ${field}Id, and is not sent`;
      return { code: 'client-secret-unused', severity: 'warning', pointer: `${at}/${field}SecretRef`, message };
    }),
  ];
}

export function inspect({ spec }: { readonly spec: Spec }, view: View): readonly Finding[] {
  const { embeddedAuthServer } = spec;
  if (embeddedAuthServer === undefined) return [];
  return authServerSecretFindings(embeddedAuthServer, '/spec/embeddedAuthServer', view);
}

function exchangeFindings(exchange: NonNullable<Spec['tokenExchange']>): readonly Finding[] {
  const { tokenUrl, scopes, clientId, clientSecretRef, externalTokenHeaderName } = exchange;
  const message = 'a client secret has no effect without clientId, and is not sent';
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
