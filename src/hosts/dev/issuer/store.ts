// Stores the state of the sample issuer in memory. The state that clients need after a restart is also in a file:
// registrations, grants, refresh tokens, the signing key.

import { readFileSync } from 'node:fs';
import { writePrivatelyNow } from '#kubernetes/devcluster/storage/private-file.ts';
import { isObject, type JsonObject, parseJson } from '#std/json.ts';

/** Storage of one model: the interface `Adapter` of oidc-provider. */
interface ModelStore {
  upsert(id: string, payload: JsonObject, expiresIn?: number): Promise<void>;
  find(id: string): Promise<JsonObject | undefined>;
  findByUid(uid: string): Promise<JsonObject | undefined>;
  findByUserCode(code: string): Promise<JsonObject | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

export interface IssuerStore {
  readonly model: (name: string) => ModelStore;
  readonly get: (key: string) => JsonObject | undefined;
  readonly set: (key: string, value: JsonObject) => void;
}

const KEPT: readonly string[] = ['Client', 'Grant', 'RefreshToken', 'Issuer'];
/** Maximum number of entries, because anyone can register clients. */
const MAX_ENTRIES = 2000;

interface Entry {
  readonly payload: JsonObject;
  /** Expiry in seconds since 1970; undefined if the entry never expires. */
  readonly until: number | undefined;
}

export function openIssuerStore(file: string, now: () => number): IssuerStore {
  const entries = new Map(readEntries(file));

  function save(): void {
    const kept = [...entries].filter(([key]) => KEPT.includes(modelOf(key)));
    writePrivatelyNow(file, JSON.stringify(kept));
  }

  function put(key: string, entry: Entry): void {
    const [oldest] = entries.keys();
    if (entries.size >= MAX_ENTRIES && oldest !== undefined && !entries.has(key)) entries.delete(oldest);
    entries.set(key, entry);
    if (KEPT.includes(modelOf(key))) save();
  }

  function live(key: string): JsonObject | undefined {
    const entry = entries.get(key);
    return entry === undefined || (entry.until ?? Number.POSITIVE_INFINITY) <= now() ? undefined : entry.payload;
  }

  function remove(keys: readonly string[]): void {
    for (const key of keys) entries.delete(key);
    if (keys.some((key) => KEPT.includes(modelOf(key)))) save();
  }

  function findBy(name: string, member: string, value: string): JsonObject | undefined {
    const key = [...entries.keys()].find((each) => modelOf(each) === name && live(each)?.[member] === value);
    return key === undefined ? undefined : live(key);
  }

  return {
    get: (key) => live(`Issuer:${key}`),
    set: (key, payload) => put(`Issuer:${key}`, { payload, until: undefined }),
    model: (name) => ({
      upsert: async (id, payload, expiresIn) =>
        put(`${name}:${id}`, { payload, until: expiresIn === undefined ? undefined : now() + expiresIn }),
      find: async (id) => live(`${name}:${id}`),
      findByUid: async (uid) => findBy(name, 'uid', uid),
      findByUserCode: async (code) => findBy(name, 'userCode', code),
      consume: async (id) => {
        const entry = entries.get(`${name}:${id}`);
        if (entry !== undefined) put(`${name}:${id}`, { ...entry, payload: { ...entry.payload, consumed: now() } });
      },
      destroy: async (id) => remove([`${name}:${id}`]),
      revokeByGrantId: async (grantId) => {
        remove([...entries].filter(([, { payload }]) => payload.grantId === grantId).map(([key]) => key));
      },
    }),
  };
}

function modelOf(key: string): string {
  return key.slice(0, key.indexOf(':'));
}

/** Returns an empty list if the file is missing or damaged. The issuer then starts without earlier state. */
function readEntries(file: string): [string, Entry][] {
  const read = parseJson(readIfThere(file));
  if (!Array.isArray(read)) return [];
  return read.flatMap((item): [string, Entry][] => {
    const [key, entry] = Array.isArray(item) ? item : [];
    if (typeof key !== 'string' || !isObject(entry) || !isObject(entry.payload)) return [];
    return [[key, { payload: entry.payload, until: typeof entry.until === 'number' ? entry.until : undefined }]];
  });
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
