// Exchanges the caller's token for a token that is meant for the server (RFC 8693).

import type { OutgoingAuthBlocks } from '#contracts/run-config-auth.ts';
import { configFault } from '../config-fault.ts';
import type { Credential, Credentialed, OutgoingRequest } from '../credential.ts';
import { endpointUrl, noAnswer, postForm } from '../endpoint.ts';
import { settableHeader } from '../header-rules.ts';
import { callerKey, createIssuedStore, type Issue, type Issued } from '../issued.ts';
import type { CredentialPorts } from '../ports.ts';
import { withoutAuthorization } from '../remove.ts';
import { createSecret } from '../secret.ts';
import { unknownCaller } from '../unknown-caller.ts';
import { invalidExchange, readExchange } from './answer.ts';
import { basicHeader } from './client-header.ts';

type Configured = NonNullable<OutgoingAuthBlocks['token_exchange_config']>;
/** A virtual server's configuration may leave the audience to the token endpoint (RFC 8693 section 2.1). */
type Block = Omit<Configured, 'audience'> & { readonly audience?: string };
const POINTER = '/token_exchange_config';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

const UNAVAILABLE = {
  code: 'exchange-unavailable',
  message: 'the token for this server cannot be obtained at the moment',
} as const;

/** Creates the credential. Throws a Failure if the block or its secret cannot be used. */
export function tokenExchange(ports: CredentialPorts, block: Block): Credential {
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

/** Sets the header. With `custom` the caller's own token is not sent in addition to the new one. */
function carried({ headers }: OutgoingRequest, header: string, issued: Issued<string>): Credentialed {
  if (!issued.ok) return issued;
  return { ok: true, headers: { ...withoutAuthorization(headers), [header]: issued.value } };
}

function carryingHeader({ header_strategy: strategy, external_token_header_name: name }: Block): string {
  if (strategy === 'replace') return 'authorization';
  const pointer = `${POINTER}/external_token_header_name`;
  if (name === undefined) throw configFault(pointer, 'is missing: header_strategy custom needs it');
  return settableHeader(name, pointer);
}

/** Returns a function that sends one request for one token. */
function createExchange(ports: CredentialPorts, block: Block): (token: string) => Promise<Issue<string>> {
  const { url, display } = endpointUrl(block.token_url, `${POINTER}/token_url`);
  const { client_id: id, scopes = [] } = block;
  const secret = clientSecret(ports, block);
  const fixed = new URLSearchParams({
    grant_type: GRANT_TYPE,
    subject_token_type: block.subject_token_type,
    requested_token_type: ACCESS_TOKEN,
  });
  if (block.audience !== undefined) fixed.set('audience', block.audience);
  if (scopes.length > 0) fixed.set('scope', scopes.join(' '));
  // A public client sends its id in the form (RFC 6749 section 3.2.1), a client with a secret uses only Basic (section
  // 2.3).
  if (id !== undefined && secret === undefined) fixed.set('client_id', id);

  return async function exchangeOnce(token) {
    const form = new URLSearchParams(fixed);
    form.set('subject_token', token);
    const current = secret?.();
    const basic = basicHeader(id, current);
    const headers = { accept: 'application/json', ...basic };
    const askedAtMs = ports.clock.now();
    // The encoded form is hidden too, since an endpoint may repeat it.
    const encoded = basic.authorization?.replace('Basic ', '');
    const secrets = [token, current, encoded].filter((each) => each !== undefined);
    try {
      return readExchange(await postForm(ports, url, form, headers), { display, askedAtMs, secrets });
    } catch (error) {
      return noAnswer(error, invalidExchange);
    }
  };
}

/** Reads the secret, if the client has an id. */
function clientSecret(ports: CredentialPorts, block: Block): (() => string) | undefined {
  const { client_id: id, client_secret_env_var: variable, client_secret_file: file } = block;
  if (id === undefined || (variable === undefined && file === undefined)) return undefined;
  return createSecret(ports, { pointer: POINTER, variable, file }, (text) => (text === '' ? undefined : text));
}
