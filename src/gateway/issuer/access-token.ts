// Issues and reads access tokens as JWTs (RFC 9068).

import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { SESSION_CLAIM } from '#auth/identity.ts';
import type { Person } from './records.ts';
import { type IssuerWorld, randomId } from './world.ts';

export interface TokenFacts {
  readonly client: string;
  readonly session: string;
  readonly person: Person;
  readonly scopes: readonly string[];
  readonly audience: readonly string[];
}

export function signAccessToken(world: IssuerWorld, facts: TokenFacts): Promise<string> {
  const { settings, keys, ports } = world;
  const { client, session, person, scopes, audience } = facts;
  const { id, algorithm, privateKey } = keys.current();
  const now = Math.floor(ports.clock.now() / 1000);
  const { subject, name, email } = person;
  const claims = {
    iss: settings.issuer,
    sub: subject,
    aud: audience.length === 1 ? audience[0] : [...audience],
    iat: now,
    exp: now + Math.floor(settings.accessMs / 1000),
    jti: randomId(world),
    client_id: client,
    scope: scopes.join(' '),
    [SESSION_CLAIM]: session,
    name,
    email,
  };
  return new SignJWT(claims).setProtectedHeader({ alg: algorithm, typ: 'at+jwt', kid: id }).sign(privateKey);
}

/** Returns the client and session of our own token that has not expired; undefined otherwise. */
export async function readAccessToken(
  { keys, settings, ports }: IssuerWorld,
  token: string,
): Promise<{ readonly client: string; readonly session: string } | undefined> {
  try {
    const { kid } = decodeProtectedHeader(token);
    const key = keys.published().keys.find((each) => each.kid === kid);
    if (key === undefined) return undefined;
    const options = {
      issuer: settings.issuer,
      typ: 'at+jwt',
      algorithms: [key.alg ?? ''],
      currentDate: new Date(ports.clock.now()),
    };
    const { payload } = await jwtVerify(token, key, options);
    const { client_id: client, [SESSION_CLAIM]: session } = payload;
    return typeof client === 'string' && typeof session === 'string' ? { client, session } : undefined;
  } catch {
    // For any fault, the text is not a token of ours.
    return undefined;
  }
}
