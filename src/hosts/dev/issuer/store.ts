// Stores the state of the sample issuer in memory. A file also has the parts that clients rely on after a restart
// (registrations, grants, refresh tokens, the signing key).

import { readFileSync } from 'node:fs';
import { writePrivatelyNow } from '#kubernetes/devcluster/storage/private-file.ts';
import { isObject, type JsonObject, parseJson } from '#std/json.ts';

/** The port `Adapter` of oidc-provider, for one model. */
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
/** Bound of the file, because clients can be registered without limit. */
const MAX_ENTRIES = 2000;

interface Entry {
  readonly payload: JsonObject;
  /** Seconds since 1970; undefined: the entry never expires. */
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

/** Returns no entries if the file is missing or damaged: the issuer then starts without its earlier state. */
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
