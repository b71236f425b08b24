// Finds the clients that people may log in with: clients that registered themselves, and clients that a document
// describes.

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

export interface Client {
  readonly id: string;
  /** Name that the client chose itself. It may be false. */
  readonly name: string;
  /**
   * Host of the client's document, which only the owner of the host can publish. Undefined if the client registered
   * itself.
   */
  readonly host?: string;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  /** Registered scopes; undefined if the client named no scopes. */
  readonly scopes?: readonly string[];
  /** Keys for the client's assertions. A client with neither keys nor a secret is public. */
  readonly keys?: ProviderKeys;
  readonly secret?: ClientSecret;
  /** Scopes and resources of a client that exchanges tokens. */
  readonly delegate?: { readonly scopes: readonly string[]; readonly audiences: readonly string[] };
}

export interface Clients {
  /** Returns the client, or undefined if it is unknown or has expired. */
  find(id: string): Promise<Client | undefined>;
  register(id: string, record: ClientRecord): Promise<void>;
  /** Keeps the client's record for another period, because a person logged in with the client. */
  keep(id: string): Promise<void>;
}

const ID_LENGTH_MAX = 200;

/**
 * Creates the store of clients. `findDelegate` finds clients of the configuration, which take precedence.
 * `findDocument` finds clients by ids that are URLs.
 */
export function createClients(
  { store }: Pick<IssuerPorts, 'store'>,
  findDelegate: (id: string) => Client | undefined,
  findDocument: (id: string) => Promise<Client | undefined>,
  isDocument: (id: string) => boolean,
): Clients {
  async function read(id: string): Promise<ClientRecord | undefined> {
    if (id.length > ID_LENGTH_MAX) return undefined;
    // The first key is read again at the end, since a login may have moved the record from the second key meanwhile.
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
