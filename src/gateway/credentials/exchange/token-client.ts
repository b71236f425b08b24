// Sends forms to a token endpoint as a configured client (RFC 6749 section 2.3).

import type { FetchResponse } from '#auth/ports.ts';
import { endpointUrl, noAnswer, postForm } from '../endpoint.ts';
import type { Issue } from '../issued.ts';
import type { CredentialPorts } from '../ports.ts';
import { createSecret } from '../secret.ts';
import { type ExchangeContext, invalidExchange } from './answer.ts';

/** Refusal of requests while no token can be obtained. */
export const UNAVAILABLE = {
  code: 'exchange-unavailable',
  message: 'the token for this server cannot be obtained at the moment',
} as const;

interface TokenClient {
  readonly url: string;
  /** Pointer to the URL in the configuration, for messages. */
  readonly urlPointer: string;
  readonly secretPointer: string;
  /** Id of the client. If absent, requests have neither an id nor a secret. */
  readonly id: string | undefined;
  readonly variable: string | undefined;
  readonly file: string | undefined;
}

/** Sends one form. `concealed` are texts of the form that messages must not contain. */
export type AskEndpoint = (
  form: Readonly<Record<string, string>>,
  concealed: readonly string[],
  read: (response: FetchResponse, context: ExchangeContext) => Issue<string>,
) => Promise<Issue<string>>;

/** Creates the client. Throws a Failure if the URL or the secret is not usable. */
export function createTokenClient(ports: CredentialPorts, client: TokenClient): AskEndpoint {
  const { id, variable, file, urlPointer, secretPointer: pointer } = client;
  const { url, display } = endpointUrl(client.url, urlPointer);
  const hasSecret = id !== undefined && (variable !== undefined || file !== undefined);
  const secret = hasSecret
    ? createSecret(ports, { pointer, variable, file }, (text) => (text === '' ? undefined : text))
    : undefined;

  return async function askEndpoint(form, concealed, read) {
    const current = secret?.();
    const basic = basicHeader(id, current);
    const all = new URLSearchParams(form);
    // A public client sends its id in the form (RFC 6749 section 3.2.1). A client with a secret uses only Basic
    // (section 2.3).
    if (id !== undefined && secret === undefined) all.set('client_id', id);
    const askedAtMs = ports.clock.now();
    // An endpoint may repeat the Authorization header in its answer, so messages must not contain the encoded pair of
    // id and secret.
    const encoded = basic.authorization?.replace('Basic ', '');
    const secrets = [...concealed, current, encoded].filter((each) => each !== undefined);
    try {
      const response = await postForm(ports, url, all, { accept: 'application/json', ...basic });
      return read(response, { display, askedAtMs, secrets });
    } catch (error) {
      return noAnswer(error, invalidExchange);
    }
  };
}

/** Form-encodes the id and the secret before they are joined (RFC 6749 section 2.3.1). */
function basicHeader(id: string | undefined, secret: string | undefined): { readonly authorization?: string } {
  if (id === undefined || secret === undefined) return {};
  const pair = `${formEncoded(id)}:${formEncoded(secret)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
