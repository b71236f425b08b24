// Logs people in to the console by the same code as the authorization server of the gateway, and gives them roles by the
// claims of the verified id_token.

import { readFileSync } from 'node:fs';
import { decodeJwt } from 'jose/jwt/decode';
import type { Logger } from 'pino';
import type { Outbound } from '#adapters/http/outbound.ts';
import { createOIDCUpstream, type LoginPorts, type OIDCSettings } from '#gateway/issuer/upstream/oidc.ts';
import type { Login } from '#reconciler/control/ports.ts';
import { Failure } from '#std/failure.ts';
import type { LoginConfig } from '../../config/login.ts';
import { proxyClock } from '../../proxy/clock.ts';
import { personOf } from './roles.ts';

const HOUR_MS = 3_600_000;
const PROVIDER = 'console';

export function openLogin(config: LoginConfig, outbound: Pick<Outbound, 'request'>, logger: Logger): Login {
  const { url, issuer, clientId, clientSecretFile, scopes, sessionHours } = config;
  const settings: OIDCSettings = {
    ...{ type: 'oidc', name: PROVIDER, issuerUrl: issuer, clientId, clientSecretFile, scopes },
    redirectUri: `${url}/login/callback`,
    authorizationParameters: {},
  };
  const ports: LoginPorts = {
    fetch: outbound.request,
    files: { read: readClientSecret },
    environment: {},
    clock: proxyClock,
    notify: ({ code, level, message, data }) => logger[level]({ code, ...data }, message),
  };
  const provider = createOIDCUpstream(ports, settings);
  return {
    url,
    host: provider.host,
    lifetimeMs: sessionHours * HOUR_MS,
    begin: provider.authorizationUrl,
    async finish(visit, parameters) {
      const { tokens } = await provider.redeem(visit, parameters);
      // `redeem` has verified it.
      return personOf(decodeJwt(tokens.idToken ?? ''), config.roles);
    },
  };
}

function readClientSecret(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Failure('secret-file-unreadable', `secret file ${path} cannot be read`, { cause });
  }
}
