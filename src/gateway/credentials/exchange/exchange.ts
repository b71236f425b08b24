// Exchanges the caller's token for a token that is meant for the server (RFC 8693).

import type { OutgoingAuthBlocks } from '#contracts/run-config-auth.ts';
import { configFault } from '../config-fault.ts';
import type { Credential, Credentialed, OutgoingRequest } from '../credential.ts';
import { settableHeader } from '../header-rules.ts';
import { callerKey, createIssuedStore, type Issue, type Issued } from '../issued.ts';
import type { CredentialPorts } from '../ports.ts';
import { withoutAuthorization } from '../remove.ts';
import { unknownCaller } from '../unknown-caller.ts';
import { readExchange } from './answer.ts';
import { createTokenClient, UNAVAILABLE } from './token-client.ts';

type Configured = NonNullable<OutgoingAuthBlocks['token_exchange_config']>;
/** Settings of the exchange. Without an audience, the token endpoint chooses the audience (RFC 8693 section 2.1). */
type ExchangeSettings = Omit<Configured, 'audience'> & { readonly audience?: string };
const POINTER = '/token_exchange_config';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** Creates the credential. Throws a Failure if the block or its secret is not usable. */
export function tokenExchange(ports: CredentialPorts, block: ExchangeSettings): Credential {
  const header = carryingHeader(block);
  const ask = createExchange(ports, block);
  const tokens = createIssuedStore<string>(ports.clock, UNAVAILABLE);
  return function applyExchange(request, caller) {
    const { token } = caller;
    if (token === undefined || token === '') return unknownCaller();
    const issued = tokens.get(callerKey(caller, token), caller, () => ask(token));
    if (issued instanceof Promise) return issued.then((each) => carried(request, header, each));
    return carried(request, header, issued);
  };
}

/** Sets the header to the new token, and removes the caller's Authorization. */
function carried({ headers }: OutgoingRequest, header: string, issued: Issued<string>): Credentialed {
  if (!issued.ok) return issued;
  return { ok: true, headers: { ...withoutAuthorization(headers), [header]: issued.value } };
}

function carryingHeader({ header_strategy: strategy, external_token_header_name: name }: ExchangeSettings): string {
  if (strategy === 'replace') return 'authorization';
  const pointer = `${POINTER}/external_token_header_name`;
  if (name === undefined) throw configFault(pointer, 'is missing: header_strategy custom needs it');
  return settableHeader(name, pointer);
}

function createExchange(ports: CredentialPorts, block: ExchangeSettings): (token: string) => Promise<Issue<string>> {
  const { audience, scopes = [] } = block;
  const ask = createTokenClient(ports, {
    url: block.token_url,
    urlPointer: `${POINTER}/token_url`,
    secretPointer: POINTER,
    id: block.client_id,
    variable: block.client_secret_env_var,
    file: block.client_secret_file,
  });
  const fixed = {
    grant_type: GRANT_TYPE,
    subject_token_type: block.subject_token_type,
    requested_token_type: ACCESS_TOKEN,
    ...(audience === undefined ? {} : { audience }),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  };
  return (token) => ask({ ...fixed, subject_token: token }, [token], readExchange);
}
