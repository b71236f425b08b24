// Revokes a token (RFC 7009).

import { readAccessToken } from './access-token.ts';
import { authenticateClient } from './clients/authentication.ts';
import {
  errorAnswer,
  type IssuerAnswer,
  type IssuerRequest,
  jsonAnswer,
  type OAuthError,
  readForm,
} from './message.ts';
import { type GrantRecord, KEYS, readRecord } from './records.ts';
import { endSession } from './sessions.ts';
import { type IssuerWorld, noteRefusal } from './world.ts';

/** Revokes a token. Revoking an unknown token succeeds (section 2.2). */
export async function revokeToken(world: IssuerWorld, request: IssuerRequest): Promise<IssuerAnswer> {
  const refusal = await revoke(world, request);
  if (refusal === undefined) return jsonAnswer(200, {});
  noteRefusal(world, refusal.error, refusal.description);
  return errorAnswer(refusal);
}

async function revoke(world: IssuerWorld, request: IssuerRequest): Promise<OAuthError | undefined> {
  const form = readForm(request);
  const token = form?.get('token') ?? '';
  if (form === undefined || token === '')
    return { error: 'invalid_request', description: 'the body must be a form with token and client_id' };
  const client = await authenticateClient(world, request, form);
  if ('error' in client) return client;
  const found = (await sessionOfRefreshToken(world, token)) ?? (await readAccessToken(world, token));
  if (found === undefined) return undefined;
  if (found.client !== client.id) return { error: 'invalid_grant', description: 'the token belongs to another client' };
  await endSession(world, found.session, 'its client revoked it');
  return undefined;
}

async function sessionOfRefreshToken({ secrets, ports }: IssuerWorld, token: string) {
  const opened = secrets.open('refresh token', token);
  if (opened === undefined) return undefined;
  const known = await readRecord<GrantRecord>(ports.store, KEYS.grant(opened.id));
  return known === undefined ? undefined : { client: known.record.client, session: opened.id };
}
