// Adds a configured header with a secret value to every request.

import type { OutgoingAuthBlocks } from '#contracts/run-config-auth.ts';
import type { Credential } from './credential.ts';
import { headerValue, settableHeader } from './header-rules.ts';
import type { CredentialPorts } from './ports.ts';
import { createSecret } from './secret.ts';

type HeaderSettings = NonNullable<OutgoingAuthBlocks['header_injection_config']>;
const POINTER = '/header_injection_config';

/** Creates the credential. Throws a Failure if the block or its secret is not usable. */
export function headerInjection(ports: CredentialPorts, block: HeaderSettings): Credential {
  const name = settableHeader(block.header_name, `${POINTER}/header_name`);
  const source = { pointer: POINTER, variable: block.value_env_var, file: block.value_file };
  const secret = createSecret(ports, source, headerValue);
  return ({ headers }) => ({ ok: true, headers: { ...headers, [name]: secret() } });
}
