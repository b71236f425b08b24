// Finds clients of the authorization server: clients that registered themselves, clients that a document describes, and
// clients of the configuration.

import type { ProviderKeys } from '#auth/jwks.ts';
import type { IssuerPorts } from '../ports.ts';
import {
  CLIENT_MS,
  type ClientRecord,
  type ClientSecret,
  KEYS,
  NEW_CLIENT_MS,
  readRecord,
  writeRecord,
} from '../records.ts';

export interface OAuthClient {
  readonly id: string;
  /** Name that the client chose. The name may be misleading. */
  readonly name: string;
  /**
   * Host of the client's document. Only the owner of the host can publish the document. Absent if the client registered
   * itself.
   */
  readonly host?: string;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  /** Registered scopes. undefined if the client named no scopes. */
  readonly scopes?: readonly string[];
  /** Keys that verify the client's assertions. A client without keys and without a secret is public. */
  readonly keys?: ProviderKeys;
  readonly secret?: ClientSecret;
  /** Scopes and resources of a client that may exchange tokens. */
  readonly delegate?: { readonly scopes: readonly string[]; readonly audiences: readonly string[] };
}

export interface Clients {
  /** Returns undefined for an unknown or expired client. */
  find(id: string): Promise<OAuthClient | undefined>;
  register(id: string, record: ClientRecord): Promise<void>;
  /** Extends the lifetime of the client's record. Called when the client gets tokens of a login. */
  keep(id: string): Promise<void>;
}

const ID_LENGTH_MAX = 200;

/**
 * Creates the store of clients. `findDelegate` finds clients of the configuration, which are looked up first.
 * `findDocument` finds clients whose id is a URL.
 */
export function createClients(
  { store }: Pick<IssuerPorts, 'store'>,
  findDelegate: (id: string) => OAuthClient | undefined,
  findDocument: (id: string) => Promise<OAuthClient | undefined>,
  isDocument: (id: string) => boolean,
): Clients {
  async function read(id: string): Promise<ClientRecord | undefined> {
    if (id.length > ID_LENGTH_MAX) return undefined;
    // Reads the first key twice, because a concurrent login may move the record from the second key to the first key.
    for (const key of [KEYS.client(id), KEYS.newClient(id), KEYS.client(id)]) {
      const known = await readRecord<ClientRecord>(store, key);
      if (known !== undefined) return known.record;
    }
    return undefined;
  }
  return {
    async find(id) {
      const delegate = findDelegate(id);
      if (delegate !== undefined) return delegate;
      if (isDocument(id)) return findDocument(id);
      const record = await read(id);
      if (record === undefined) return undefined;
      const { name, redirectUris, grantTypes, scopes, secret } = record;
      return { id, name: name ?? 'An app without a name', redirectUris, grantTypes, scopes, secret };
    },
    register: (id, record) => writeRecord(store, KEYS.newClient(id), record, NEW_CLIENT_MS),
    async keep(id) {
      const record = await read(id);
      if (record === undefined) return;
      await writeRecord(store, KEYS.client(id), record, CLIENT_MS);
      await store.delete([KEYS.newClient(id)]);
    },
  };
}
