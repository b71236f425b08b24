// Sends requests to the token endpoint of a provider, and parses its answers (RFC 6749 section 5, or a configured
// mapping).

import { isObject, type Json, parseJson } from '#std/json.ts';
import { configInvalid } from '../config-fault.ts';
import type { IssuerPorts } from '../ports.ts';
import { identityIn, textByPath, valueByPath } from './answer-paths.ts';
import type { IdentityPaths, TokenMapping, UpstreamClient } from './settings.ts';
import { asUpstreamFailure, upstreamFailure } from './upstream.ts';
import type { UserInfo } from './user-info.ts';

const TIMEOUT_MS = 10_000;
const BYTES_MAX = 256 * 1024;
/** Time after which an access token is refreshed if the provider sends a refresh token but no lifetime. */
const UNSAID_MS = 3_600_000;

export interface TokenEndpoint {
  readonly url: string;
  readonly client: UpstreamClient;
  readonly secretIn: 'form' | 'header';
  /** True if the configuration names the endpoint or its host. */
  readonly allowPrivate: boolean;
  readonly mapping?: TokenMapping;
  /** Paths of the person's data in the answer. */
  readonly identity?: IdentityPaths;
}

export interface TokenAnswer {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly expiresAtMs: number;
  readonly isExpiryAssumed: boolean;
  readonly idToken?: string;
  /** Identity of the person. undefined if no paths to the identity are configured. */
  readonly identity?: UserInfo;
}

/** Returns the client secret. undefined for a public client. Throws a Failure if the secret is missing. */
export function upstreamSecret(
  { environment, files }: Pick<IssuerPorts, 'environment' | 'files'>,
  { name, clientSecret, clientSecretFile, clientSecretVariable }: UpstreamClient,
): string | undefined {
  if (clientSecret !== undefined) return clientSecret;
  if (clientSecretFile !== undefined) return files.read(clientSecretFile).trim();
  if (clientSecretVariable === undefined) return undefined;
  const value = environment[clientSecretVariable]?.trim();
  if (value !== undefined && value !== '') return value;
  throw configInvalid(
    '/upstreams',
    `names the variable ${clientSecretVariable} for provider ${name}, but it is not set`,
  );
}

/** Requests tokens. Throws a Failure of the provider. */
export async function requestTokens(
  ports: Pick<IssuerPorts, 'fetch' | 'environment' | 'files' | 'clock'>,
  endpoint: TokenEndpoint,
  grant: Readonly<Record<string, string>>,
): Promise<TokenAnswer> {
  const { client, url, allowPrivate } = endpoint;
  const { name, clientId } = client;
  const secret = upstreamSecret(ports, client);
  const inHeader = secret !== undefined && endpoint.secretIn === 'header';
  const form = new URLSearchParams({ ...grant, ...(inHeader ? {} : { client_id: clientId }) });
  if (secret !== undefined && !inHeader) form.set('client_secret', secret);
  const askedAtMs = ports.clock.now();
  try {
    const { status, body } = await ports.fetch({
      url,
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...(inHeader ? { authorization: basicHeader(clientId, secret) } : {}),
      },
      body: form.toString(),
      allowPrivate,
      timeoutMs: TIMEOUT_MS,
      maxBytes: BYTES_MAX,
    });
    const answer = parseJson(Buffer.from(body).toString('utf8'));
    return tokenAnswer(name, status, answer, askedAtMs, endpoint);
  } catch (error) {
    throw asUpstreamFailure(name, error);
  }
}

/** Form-encodes the id and the secret before they are joined (RFC 6749 section 2.3.1). */
function basicHeader(id: string, secret: string): string {
  const [encodedId, encodedSecret] = [id, secret].map((part) => new URLSearchParams([['', part]]).toString().slice(1));
  return `Basic ${Buffer.from(`${encodedId}:${encodedSecret}`).toString('base64')}`;
}

function tokenAnswer(
  provider: string,
  status: number,
  answer: Json | undefined,
  askedAtMs: number,
  { mapping, identity }: Pick<TokenEndpoint, 'mapping' | 'identity'>,
): TokenAnswer {
  if (status === 429 || status >= 500)
    throw upstreamFailure(provider, 'unavailable', `its token endpoint answered ${status}`);
  // Some providers send errors with status 200.
  if (isObject(answer) && typeof answer.error === 'string') {
    const error = plainWord(answer.error);
    throw upstreamFailure(provider, 'refused', `its token endpoint answered ${status} ${error}`, undefined, { error });
  }
  if (status !== 200 && status !== 201)
    throw upstreamFailure(provider, 'refused', `its token endpoint answered ${status}`);
  if (!isObject(answer))
    throw upstreamFailure(provider, 'invalid', 'its token endpoint did not answer with a JSON object');
  const accessToken = textByPath(answer, mapping?.access_token_path ?? 'access_token');
  if (accessToken === undefined) throw upstreamFailure(provider, 'invalid', 'its token endpoint sent no access token');
  const { token_type: type } = answer;
  if (mapping === undefined && !(typeof type === 'string' && type.toLowerCase() === 'bearer')) {
    throw upstreamFailure(provider, 'invalid', 'its token endpoint sent a token that is not of type Bearer');
  }
  const lifetime = valueByPath(answer, mapping?.expires_in_path ?? 'expires_in');
  const seconds = typeof lifetime === 'string' || typeof lifetime === 'number' ? Number(lifetime) : Number.NaN;
  const isSaid = Number.isFinite(seconds) && seconds > 0;
  return {
    accessToken,
    refreshToken: textByPath(answer, mapping?.refresh_token_path ?? 'refresh_token'),
    expiresAtMs: askedAtMs + (isSaid ? seconds * 1000 : UNSAID_MS),
    isExpiryAssumed: !isSaid,
    idToken: textByPath(answer, 'id_token'),
    identity: identity && identityIn(answer, identity),
  };
}

/** Makes a text of a provider safe for a log: at most 100 characters, with `?` for special characters. */
export function plainWord(text: string): string {
  return text.slice(0, 100).replaceAll(/[^\w.:-]/g, '?');
}
