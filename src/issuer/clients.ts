// The clients that people may log in with: those that registered themselves. Knows nothing about logins.

import type { IssuerPorts } from './ports.ts';
import { CLIENT_MS, type ClientRecord, KEYS, NEW_CLIENT_MS, readRecord, writeRecord } from './records.ts';

export interface Client {
  readonly id: string;
  /** As it calls itself: anybody may call themselves anything. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
}

export interface Clients {
  /** Undefined where it is not known, or not any more. */
  find(id: string): Promise<Client | undefined>;
  register(id: string, record: ClientRecord): Promise<void>;
  /** Somebody logged in with it: it stays for another while. */
  keep(id: string): Promise<void>;
}

const ID_LENGTH_MAX = 200;

export function createClients({ store }: Pick<IssuerPorts, 'store'>): Clients {
  async function read(id: string): Promise<ClientRecord | undefined> {
    if (id.length > ID_LENGTH_MAX) return undefined;
    const known = await readRecord<ClientRecord>(store, KEYS.client(id));
    return (known ?? (await readRecord<ClientRecord>(store, KEYS.newClient(id))))?.record;
  }
  return {
    async find(id) {
      const record = await read(id);
      if (record === undefined) return undefined;
      const { name, redirectUris, grantTypes } = record;
      return { id, name: name ?? 'An app without a name', redirectUris, grantTypes };
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
