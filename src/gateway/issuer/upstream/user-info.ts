// Reads the identity of a person from a provider's userinfo endpoint.

import { isObject, type JsonObject, parseJson } from '#std/json.ts';
import type { IssuerPorts } from '../ports.ts';
import type { UserInfoSettings } from './settings.ts';
import { asUpstreamFailure, upstreamFailure } from './upstream.ts';

export interface UserInfo {
  readonly subject?: string;
  readonly name?: string;
  readonly email?: string;
}

const TIMEOUT_MS = 10_000;
const BYTES_MAX = 1024 * 1024;

interface UserInfoPlace {
  readonly ports: Pick<IssuerPorts, 'fetch'>;
  readonly provider: string;
  readonly allowPrivate: boolean;
}

/** Requests the person's claims. Throws a Failure of the provider. */
export async function askUserInfo(
  { ports, provider, allowPrivate }: UserInfoPlace,
  settings: UserInfoSettings,
  accessToken: string,
): Promise<UserInfo> {
  const { endpoint_url: url, http_method: method, additional_headers: additional } = settings;
  try {
    const { status, body } = await ports.fetch({
      url,
      method,
      headers: { accept: 'application/json', ...additional, authorization: `Bearer ${accessToken}` },
      allowPrivate,
      timeoutMs: TIMEOUT_MS,
      maxBytes: BYTES_MAX,
    });
    if (status === 429 || status >= 500)
      throw upstreamFailure(provider, 'unavailable', `its userinfo endpoint answered ${status}`);
    if (status !== 200) throw upstreamFailure(provider, 'refused', `its userinfo endpoint answered ${status}`);
    const answer = parseJson(Buffer.from(body).toString('utf8'));
    if (!isObject(answer))
      throw upstreamFailure(provider, 'invalid', 'its userinfo endpoint did not answer with a JSON object');
    return userInfoOf(answer, settings.field_mapping);
  } catch (error) {
    throw asUpstreamFailure(provider, error);
  }
}

/** Reads each field from the first claim of the mapping that is not empty. */
export function userInfoOf(claims: JsonObject, mapping: UserInfoSettings['field_mapping'] = {}): UserInfo {
  return {
    subject: firstFilled(claims, mapping.subject_fields ?? ['sub']),
    name: firstFilled(claims, mapping.name_fields ?? ['name']),
    email: firstFilled(claims, mapping.email_fields ?? ['email']),
  };
}

function firstFilled(claims: JsonObject, fields: readonly string[]): string | undefined {
  const values = fields.map((field) => (Object.hasOwn(claims, field) ? claims[field] : undefined));
  const found = values.find((value) => (typeof value === 'string' && value !== '') || typeof value === 'number');
  // Some providers use numbers as ids of people. JSON parsing rounds large numbers, so two people could get the same
  // id.
  if (typeof found === 'number') return Number.isSafeInteger(found) ? String(found) : undefined;
  return typeof found === 'string' ? found : undefined;
}
