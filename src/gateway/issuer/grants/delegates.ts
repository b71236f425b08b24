// Finds the clients of the configuration that may exchange tokens.

import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import type { OAuthClient } from '../clients/clients.ts';
import { configInvalid } from '../config-fault.ts';
import type { IssuerPorts } from '../ports.ts';
import type { DelegateClient } from './settings.ts';

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Returns the client with its current secret. undefined if the configuration does not contain the client. */
export type FindDelegate = (id: string) => OAuthClient | undefined;

/** Creates the function that finds clients. Throws a Failure if a secret is missing. */
export function createDelegates(
  ports: Pick<IssuerPorts, 'environment' | 'files' | 'notify'>,
  clients: readonly DelegateClient[],
): FindDelegate {
  const digests = new Map(clients.map((client) => [client.id, sha256(readSecret(ports, client))]));

  /**
   * Returns the digest of the current secret. If the secret is no longer readable, reports this and keeps the last
   * valid secret.
   */
  function currentDigest(client: DelegateClient): string {
    try {
      digests.set(client.id, sha256(readSecret(ports, client)));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const data = { client: client.id, cause: error.code };
      ports.notify({ code: 'issuer-secret-invalid', level: 'warn', message: error.message, data });
    }
    return digests.get(client.id) ?? '';
  }

  return function findDelegate(id) {
    const client = clients.find((each) => each.id === id);
    if (client === undefined) return undefined;
    return {
      id,
      name: id,
      // The client has no logins, so it needs no redirect URI.
      redirectUris: [],
      grantTypes: [TOKEN_EXCHANGE],
      scopes: client.scopes,
      secret: { digest: currentDigest(client) },
      delegate: { scopes: client.scopes, audiences: client.audiences },
    };
  };
}

function readSecret(
  { environment, files }: Pick<IssuerPorts, 'environment' | 'files'>,
  { id, secretFile, secretVariable }: DelegateClient,
): string {
  const text = secretFile === undefined ? environment[secretVariable ?? ''] : files.read(secretFile);
  const secret = (text ?? '').trim();
  if (secret !== '') return secret;
  throw configInvalid(
    '/delegate_clients',
    `has no secret for ${id}: ${secretFile ?? secretVariable ?? 'no file or variable is named'}`,
  );
}
