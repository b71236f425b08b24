// Sends a configured bearer token in the Authorization header of every request, in place of the caller's Authorization.

import type { OutgoingAuthBlocks } from '#contracts/run-config-auth.ts';
import type { Credential } from './credential.ts';
import { bearerValue } from './header-rules.ts';
import type { CredentialPorts } from './ports.ts';
import { createSecret } from './secret.ts';

type BearerSettings = NonNullable<OutgoingAuthBlocks['bearer_token_config']>;

/** Creates the credential. Throws a Failure if the block or its secret is not usable. */
export function bearerToken(ports: CredentialPorts, block: BearerSettings): Credential {
  const source = { pointer: '/bearer_token_config', variable: block.token_env_var, file: block.token_file };
  const authorization = createSecret(ports, source, bearerValue);
  return ({ headers }) => ({ ok: true, headers: { ...headers, authorization: authorization() } });
}
