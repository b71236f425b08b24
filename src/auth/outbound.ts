// Sends requests to an identity provider with the trust and credentials of its settings, and reads JSON objects.

import { Failure } from '#std/failure.ts';
import { isObject, type Json, type JsonObject, parseJson } from '#std/json.ts';
import type { AuthPorts, FetchRequest, FetchResponse } from './ports.ts';
import type { Cause } from './rejection.ts';
import type { ProviderSettings } from './settings.ts';

/**
 * An API server sends its keys only as `application/jwk-set+json` (RFC 7517 section 8.5), and responds with 406 if a
 * request accepts only other types.
 */
const JSON_TYPES = 'application/json, application/jwk-set+json';
const TIMEOUT_MS = 5_000;
const ANSWER_BYTES_MAX = 512 * 1024;

/** Characters that a header can contain unquoted. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;
const NOT_EMPTY = /./s;

/** Name of a registry's only setting for private addresses, in messages. Servers and proxies have two settings. */
const ONE_SETTING = 'allowPrivateIP';

type World = Pick<AuthPorts, 'fetch' | 'files'>;

/** Throws the Failures of `fetch` and `files`, `provider-answer-invalid` and `provider-secret-invalid`. */
export async function getJson(world: World, provider: ProviderSettings, url: string): Promise<JsonObject> {
  const authorization = await tokenFromFile(world, provider);
  return askProvider(world, provider, {
    url,
    method: 'GET',
    headers: { accept: JSON_TYPES, ...authorization },
    allowPrivateBy: provider.introspectionAllowPrivateIP === undefined ? ONE_SETTING : 'jwksAllowPrivateIP',
  });
}

/** Posts a form (RFC 7662 section 2.1). Throws the Failures of `getJson`. */
export async function postForm(
  world: World,
  provider: ProviderSettings,
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<JsonObject> {
  const authorization = (await clientCredentials(world, provider)) ?? (await tokenFromFile(world, provider));
  const allowPrivateIP = provider.introspectionAllowPrivateIP ?? provider.allowPrivateIP;
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    ...authorization,
  };
  const body = new URLSearchParams(form).toString();
  const allowPrivateBy =
    provider.introspectionAllowPrivateIP === undefined ? ONE_SETTING : 'protectedResourceAllowPrivateIP';
  return askProvider(world, { ...provider, allowPrivateIP }, { url, method: 'POST', headers, body, allowPrivateBy });
}

/** Converts a Failure to data for the log. Throws other errors, which are bugs. */
export function causeOf(error: unknown): Cause {
  if (!(error instanceof Failure)) throw error;
  return { code: error.code, message: error.message };
}

async function askProvider(
  world: World,
  provider: ProviderSettings,
  request: Pick<FetchRequest, 'url' | 'method' | 'headers' | 'body' | 'allowPrivateBy'>,
): Promise<JsonObject> {
  // Read for every request, because mounted certificates rotate.
  const ca = provider.caCertPath === undefined ? {} : { ca: await world.files.read(provider.caCertPath) };
  const response = await world.fetch({
    ...request,
    ...ca,
    allowPrivate: provider.allowPrivateIP,
    timeoutMs: TIMEOUT_MS,
    maxBytes: ANSWER_BYTES_MAX,
  });
  return jsonObject(request.url, response);
}

function jsonObject(url: string, response: FetchResponse): JsonObject {
  const parsed = parseJson(new TextDecoder().decode(response.body));
  if (response.status !== 200) {
    const { error } = isObject(parsed) ? parsed : {};
    throw invalidAnswer(url, `answered with status ${response.status}`, response.status, error);
  }
  if (!isObject(parsed)) throw invalidAnswer(url, 'did not answer with a JSON object', response.status);
  return parsed;
}

/**
 * Creates Failure `provider-answer-invalid`. `what` continues the sentence after the URL. `error` is the `error` of the
 * response (RFC 6749 section 5.2), if present.
 */
export function invalidAnswer(url: string, what: string, status = 200, error?: Json): Failure {
  const data = typeof error === 'string' ? { url, status, error } : { url, status };
  return new Failure('provider-answer-invalid', `${url} ${what}`, { data, retryable: true });
}

async function clientCredentials(
  world: World,
  provider: ProviderSettings,
): Promise<{ authorization: string } | undefined> {
  const { clientId, clientSecretFile, clientSecret } = provider;
  if (clientId === undefined) return undefined;
  const secret = clientSecretFile === undefined ? clientSecret : await readSecret(world, clientSecretFile, NOT_EMPTY);
  if (secret === undefined) return undefined;
  // Client id and secret are form-encoded before they are joined (RFC 6749 section 2.3.1).
  const pair = `${formEncode(clientId)}:${formEncode(secret)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

async function tokenFromFile(world: World, provider: ProviderSettings): Promise<{ authorization?: string }> {
  if (provider.authTokenFile === undefined) return {};
  return { authorization: `Bearer ${await readSecret(world, provider.authTokenFile, HEADER_SAFE)}` };
}

async function readSecret(world: World, path: string, form: RegExp): Promise<string> {
  const secret = (await world.files.read(path)).trim();
  if (form.test(secret)) return secret;
  throw new Failure('provider-secret-invalid', `${path} is empty or contains characters that a header cannot contain`, {
    data: { path },
  });
}

function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
