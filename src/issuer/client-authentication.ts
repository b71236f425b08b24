// Which client asks at the token and revocation endpoints (RFC 6749 section 3.2.1). Knows nothing about what it asks for.

import type { Client } from './clients.ts';
import type { IssuerRequest, OAuthError } from './message.ts';
import type { IssuerWorld } from './world.ts';

/** A client that is not known gets `invalid_client`, so that it registers again. */
export async function authenticateClient(
  { clients }: IssuerWorld,
  { headers }: IssuerRequest,
  form: URLSearchParams,
): Promise<Client | OAuthError> {
  if (headers.authorization !== undefined || form.has('client_secret')) {
    return { error: 'invalid_client', description: 'clients have no secret here: send client_id in the form' };
  }
  const id = form.get('client_id');
  if (id === null || id === '') return { error: 'invalid_request', description: 'client_id is missing' };
  const client = await clients.find(id);
  return client ?? { error: 'invalid_client', description: 'the client is not known, or not any more: register again' };
}
