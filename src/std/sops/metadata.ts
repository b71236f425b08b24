// Reads the `sops` part of a document, which describes its encryption.

import { isObject, type Json, type JsonObject, objectsIn } from '../json.ts';
import { compileRe2 } from '../patterns/re2.ts';

export interface SopsMetadata {
  /**
   * Groups of keys. With a single group, any key opens the document. With several groups, keys of `threshold` groups
   * are needed.
   */
  readonly groups: readonly KeyGroup[];
  readonly threshold: number;
  /** Time to which the checksum is bound. */
  readonly lastModified: string;
  readonly mac: string;
  readonly macOnlyEncrypted: boolean;
  readonly encrypts: (path: readonly string[]) => Expected;
}

/** Result of a rule for a path of keys. `undecided`: the rule takes too long. */
type Expected = 'encrypted' | 'clear' | 'as its comments say' | 'undecided';

export interface KeyGroup {
  readonly age: readonly AgeRecipient[];
  /** Names of unsupported key services in the group. */
  readonly others: readonly string[];
}

export interface AgeRecipient {
  readonly recipient: string;
  /** The data key or a share of it, as an armoured age file. */
  readonly enc: string;
}

export type MetadataRead =
  | { readonly ok: true; readonly metadata: SopsMetadata }
  | { readonly ok: false; readonly reason: string };

const SERVICES: Readonly<Record<string, string>> = {
  kms: 'AWS KMS',
  gcp_kms: 'Google Cloud KMS',
  hckms: 'Huawei Cloud KMS',
  azure_kv: 'Azure Key Vault',
  hc_vault: 'HashiCorp Vault',
  pgp: 'PGP',
};

const RULES = [
  'unencrypted_suffix',
  'encrypted_suffix',
  'unencrypted_regex',
  'encrypted_regex',
  'unencrypted_comment_regex',
  'encrypted_comment_regex',
] as const;
const DEFAULT_RULE = ['unencrypted_suffix', '_unencrypted'] as const;

const MOMENT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,]\d+)?(Z|[-+]\d\d:\d\d)$/;

export function readMetadata(sops: Json | undefined): MetadataRead {
  if (!isObject(sops)) return { ok: false, reason: 'sops must be a mapping' };
  const { lastmodified, mac, mac_only_encrypted: macOnly } = sops;
  const groups = groupsOf(sops);
  const moment = MOMENT.exec(typeof lastmodified === 'string' ? lastmodified : '');
  if (moment === null) return { ok: false, reason: 'sops.lastmodified must be a date and time' };
  if (typeof mac !== 'string' || mac === '') return { ok: false, reason: 'sops.mac, its checksum, is missing' };
  if (groups.length === 0) return { ok: false, reason: 'sops names no key that could open it' };
  const encrypts = ruleOf(sops);
  if (typeof encrypts === 'string') return { ok: false, reason: encrypts };
  const [, time = '', zone = ''] = moment;
  const threshold = Number(sops.shamir_threshold ?? 0) || groups.length;
  const metadata = {
    groups,
    threshold,
    // Formatted as Go does: whole seconds, and Z for no offset.
    lastModified: time + (/^[-+]00:00$/.test(zone) ? 'Z' : zone),
    mac,
    macOnlyEncrypted: macOnly === true || macOnly === 'true',
    encrypts,
  };
  return { ok: true, metadata };
}

function groupsOf(sops: JsonObject): KeyGroup[] {
  const own = groupOf(sops);
  if (own.age.length > 0 || own.others.length > 0) return [own];
  const { key_groups: groups } = sops;
  return Array.isArray(groups) ? groups.map((group) => groupOf(isObject(group) ? group : {})) : [];
}

function groupOf(group: JsonObject): KeyGroup {
  const age = objectsIn(group.age).flatMap(({ recipient, enc }) =>
    typeof recipient === 'string' && typeof enc === 'string' ? [{ recipient, enc }] : [],
  );
  const others = Object.entries(SERVICES).filter(([field]) => objectsIn(group[field]).length > 0);
  return { age, others: others.map(([, words]) => words) };
}

/** Returns the rule. Returns a reason if the rules contradict each other or are invalid. */
function ruleOf(sops: JsonObject): SopsMetadata['encrypts'] | string {
  const given = RULES.flatMap((name) => {
    const value = sops[name];
    return typeof value === 'string' && value !== '' ? [[name, value] as const] : [];
  });
  if (given.length > 1) return `sops may have one of ${RULES.join(', ')}`;
  const [name, value] = given[0] ?? DEFAULT_RULE;
  switch (name) {
    case 'unencrypted_suffix':
      return (path) => (path.some((key) => key.endsWith(value)) ? 'clear' : 'encrypted');
    case 'encrypted_suffix':
      return (path) => (path.some((key) => key.endsWith(value)) ? 'encrypted' : 'clear');
    case 'unencrypted_regex':
    case 'encrypted_regex': {
      const compiled = compileRe2(value);
      if (!compiled.ok) return `sops.${name}: ${compiled.reason}`;
      const [matched, other] = name === 'encrypted_regex' ? YES_NO : NO_YES;
      return (path) => {
        const matches = path.map((key) => compiled.matcher.test(key));
        if (matches.includes(true)) return matched;
        return matches.includes(undefined) ? 'undecided' : other;
      };
    }
    case 'unencrypted_comment_regex':
    case 'encrypted_comment_regex':
      return () => 'as its comments say';
  }
}

const YES_NO = ['encrypted', 'clear'] as const;
const NO_YES = ['clear', 'encrypted'] as const;
