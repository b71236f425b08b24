// Documents that the real sops has encrypted are read as it reads them itself, and refused where it refuses them. The
// documents beside this test are made by make.sh; where sops is here, random ones are made and compared, too.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type AgeKeys, readAgeKeys } from '#std/sops/age-keys.ts';
import { type Opening, openDocuments } from '#std/sops/open.ts';
import { readDocuments } from '#std/yaml/yaml.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const KEYS = readFileSync(join(HERE, 'TEST-ONLY-age-keys.txt'), 'utf8');

async function keysOf(text: string): Promise<AgeKeys> {
  const read = await readAgeKeys(text);
  if (!read.ok) throw new Error(read.reason);
  return read.keys;
}

function documentOf(name: string): string {
  return readFileSync(join(HERE, 'documents', name), 'utf8');
}

async function opened(text: string): Promise<readonly (Opening | undefined)[]> {
  return openDocuments(text, { type: 'keys', keys: await keysOf(KEYS) });
}

async function faultsOf(text: string): Promise<string[]> {
  return (await opened(text)).flatMap((each) => (each?.fault === undefined ? [] : [each.fault.code]));
}

describe('what sops decrypts', () => {
  test.each(readdirSync(join(HERE, 'documents')).filter((name) => name.includes('.sealed.')))('%s', async (name) => {
    const values = (await opened(documentOf(name))).map((each) => each?.value);
    const expected = readDocuments(documentOf(name.replace('.sealed.', '.open.')), name);
    expect(values).toEqual(expected.map(({ value }) => value));
    expect(expected.flatMap(({ problems }) => problems)).toEqual([]);
  });
});

/** What someone without the key could do to a document, each with what it is refused as. */
const TAMPERED: readonly {
  readonly of: string;
  readonly by: (text: string) => string;
  readonly as: string;
  readonly name?: string;
}[] = [
  { of: 'another name', by: (text) => text.replace('name: api', 'name: apj'), as: 'sops-mac-mismatch' },
  {
    of: 'another namespace',
    by: (text) => text.replace('namespace: tools', 'namespace: mine'),
    as: 'sops-mac-mismatch',
  },
  {
    of: 'another value in the clear',
    by: (text) => text.replace('count: "1"', 'count: "2"'),
    as: 'sops-mac-mismatch',
  },
  { of: 'a value more', by: (text) => text.replace('type: Opaque', 'type: Opaque\nmore: x'), as: 'sops-mac-mismatch' },
  { of: 'a value less', by: (text) => text.replace('type: Opaque\n', ''), as: 'sops-mac-mismatch' },
  { of: 'another order', by: swapped, as: 'sops-mac-mismatch' },
  { of: 'a document less', by: (text) => text.split('\n---\n').slice(0, 1).join(), as: 'sops-mac-mismatch' },
  {
    of: 'another date',
    by: (text) => text.replaceAll(/lastmodified: "20\d\d/g, 'lastmodified: "2019'),
    as: 'sops-mac-mismatch',
  },
  { of: 'another way to make the checksum', by: macOnly, as: 'sops-mac-mismatch' },
  { of: 'a value renamed', by: (text) => text.replace('    token: ENC', '    other: ENC'), as: 'sops-invalid' },
  {
    of: 'ciphertext cut',
    by: (text) => text.replace(/(token: ENC\[AES256_GCM,data:)..../, '$1AAAA'),
    as: 'sops-invalid',
  },
  { of: 'a tag cut', by: (text) => text.replace(/(token: .*tag:)[^,]*/, '$1AAAAAAA='), as: 'sops-invalid' },
  { of: 'another type', by: (text) => text.replace('type:str', 'type:int'), as: 'sops-invalid' },
  { of: 'text among ciphertext', by: (text) => text.replace('    empty: ""', '    empty: mine'), as: 'sops-invalid' },
  { of: 'rules that leave it closed', by: rule('^nothing$'), as: 'sops-invalid' },
  { of: 'two rules', by: rule('^data$\n    encrypted_suffix: x'), as: 'sops-invalid' },
  { of: 'no checksum', by: (text) => text.replaceAll(/ {4}mac: .*\n/g, ''), as: 'sops-invalid' },
  { of: 'no date', by: (text) => text.replaceAll(/ {4}lastmodified: .*\n/g, ''), as: 'sops-invalid' },
  { of: 'an alias', by: (text) => text.replace('type: Opaque', 'type: &a Opaque\nmore: *a'), as: 'sops-invalid' },
  { of: 'a key twice', by: (text) => text.replace('type: Opaque', 'type: Opaque\ntype: Opaque'), as: 'sops-invalid' },
  { of: 'no sops part', by: (text) => text.replaceAll(/^sops:\n(?: .*\n)*/gm, ''), as: 'sops-metadata-missing' },
  {
    of: 'the key for somebody else',
    by: (text) => text.replaceAll(/^( {12}[A-Za-z0-9])./gm, '$1_'),
    as: 'sops-key-wrong',
  },
  {
    of: 'another service',
    by: (text) => text.replaceAll(/ {4}age:\n/g, '    hc_vault:\n'),
    as: 'sops-service-unsupported',
  },
  {
    of: 'a text among those',
    by: (text) => text.replace('more: ENC', 'x: mine\n    more: ENC'),
    as: 'sops-invalid',
    name: 'mac-only',
  },
  {
    of: 'one of those less',
    by: (text) => text.replace(/ {4}more: .*\n/, ''),
    as: 'sops-mac-mismatch',
    name: 'mac-only',
  },
  {
    of: 'a group less',
    by: (text) => text.replace(/shamir_threshold: 2/, 'shamir_threshold: 3'),
    as: 'sops-key-wrong',
    name: 'groups',
  },
];

function swapped(text: string): string {
  return text.replace(/( +name: api.*\n)( +namespace: tools\n)/, '$2$1');
}

function macOnly(text: string): string {
  return text.replaceAll('    version:', '    mac_only_encrypted: true\n    version:');
}

function rule(expression: string): (text: string) => string {
  return (text) => text.replaceAll(/encrypted_regex: .*/g, () => `encrypted_regex: ${expression}`);
}

describe('what was tampered with', () => {
  test.each(TAMPERED)('$of: $as', async ({ by, as, name = 'secret' }) => {
    const text = documentOf(`${name}.sealed.yaml`);
    const changed = by(text);
    expect(changed).not.toBe(text);
    const faults = await faultsOf(changed);
    expect([...new Set(faults)]).toEqual([as]);
    const values = (await opened(changed)).map((each) => each?.value);
    expect(JSON.stringify(values)).not.toContain('from-sops');
  });
});

test('without a key, values of the right type stand in, and it is known where', async () => {
  const text = expect.stringMatching(/^[0-9a-f]{16}$/);
  const [first] = await openDocuments(documentOf('whole.sealed.yaml'), { type: 'none' });
  expect(first).toMatchObject({
    open: false,
    value: { kind: text, items: [{ immutable: false, metadata: { name: text } }, {}] },
  });
  expect(first?.fault).toBeUndefined();
  expect(first?.sealed).toContain('/items/1/stringData/token');
  expect(first?.comments).toEqual(['/items/0', '/items/2']);
});

test('what cannot be read is refused, should another reader get further with it', async () => {
  const text = `kind: Secret\nstringData: [${documentOf('mac-only.sealed.yaml')}`;
  expect(await faultsOf(text)).toEqual(['sops-invalid']);
});

/** What `readAgeKeys` says of a file; it never says a part of it. */
const KEY_FILES = [
  { text: '', says: 'contains no key' },
  { text: '# only a comment\n', says: 'contains no key' },
  { text: '-----BEGIN OPENSSH PRIVATE KEY-----\nabc', says: 'line 1 is not an age key' },
  { text: `# x\n\n${KEYS.split('\n')[1]?.slice(0, -1)}`, says: 'line 3 is not a complete age key' },
];

test.each(KEY_FILES)('a key file is refused: $says', async ({ text, says }) => {
  const read = await readAgeKeys(text);
  expect(read).toMatchObject({ ok: false, reason: expect.stringContaining(says) });
});
