// Random documents, encrypted by the real sops in random ways, are opened to what sops itself decrypts; and what the harness of
// other tests encrypts is what sops takes. Skipped, and said so, where there is no sops.

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { identityToRecipient } from 'age-encryption';
import { afterAll, describe, expect, test } from 'vitest';
import { readAgeKeys } from '#std/sops/age-keys.ts';
import { openDocuments } from '#std/sops/open.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { type Random, seeded } from '../../harness/random.ts';
import { sealed, testKey } from '../../harness/sops.ts';

const SOPS = process.env.SOPS ?? 'sops';
const isThere = spawnSync(SOPS, ['--version']).status === 0;
if (!isThere) {
  process.stderr.write(
    'skipped: random documents of sops. Get it with `go install github.com/getsops/sops/v3/cmd/sops@v3.13.3`, or name it: SOPS=/path/to/sops\n',
  );
}

/** More of them, once, for whoever changes how documents are read: SOPS_CASES=500 SOPS_SEED=7. */
const CASES = Number(process.env.SOPS_CASES ?? 12);
const SEED = Number(process.env.SOPS_SEED ?? 1);

const folder = temporaryFolder();
afterAll(() => folder.remove());

const KEY_FILE = fileURLToPath(new URL('TEST-ONLY-age-keys.txt', import.meta.url));

function sops(
  args: readonly string[],
  keyFile = KEY_FILE,
): { readonly status: number | null; readonly stdout: string } {
  const { SOPS_AGE_KEY: _, ...env } = process.env;
  return spawnSync(SOPS, args, { encoding: 'utf8', env: { ...env, SOPS_AGE_KEY_FILE: keyFile } });
}

const SCALARS = [
  ...['abc', '"x y"', "'it''s'", '1', '-7', '007', '0x1F', '0o17', '0b101', '1_000', '08', '9007199254740991', '12e03'],
  ...['1.5', '1.50', '1e3', '1.0e-9', '5.', '.5', '1e-7', '0.1', 'true', 'False', 'yes', 'on', 'null', '~', '""', '='],
  ...['2001-12-14', '2001-12-14T21:59:43.10-05:00', '2001-12-14 21:59:43', '2001-1-2t1:2:3Z', '2024-02-30', '1:20'],
  ...[
    'ü€😀',
    '"\\0a"',
    '"tab\\t"',
    '"a\\nb"',
    '"#no"',
    '"- x"',
    '"ENC[x]"',
    '"yes"',
    '"123"',
    '"  lead"',
    '"\\uFEFFb"',
  ],
];
const NAMES = [
  'a',
  'b',
  'data',
  'stringData',
  'token',
  'x_unencrypted',
  'y_secret',
  '"2"',
  '"1"',
  'é',
  '"yes"',
  '"a/b~c"',
  '"a:b"',
];
const BLOCKS = ['|\n@  one\n@  two', '|-\n@  a\n@  b', '>\n@  folded\n@  text\n\n@  more', '|+\n@  keep\n\n'];
/** Not by comments: they move when sops writes them, and then it cannot read its own document. */
const RULES = [
  [],
  ['--encrypted-regex', '^(data|stringData)$'],
  ['--unencrypted-regex', '^(apiVersion|kind|metadata|a)$'],
  ['--encrypted-suffix', '_secret'],
  ['--unencrypted-suffix', 'a'],
];

function mapping(random: Random, depth: number, indent: string): string {
  const names = NAMES.filter(() => random.chance(0.3));
  return (names.length === 0 ? ['only'] : names)
    .map((name) => `${comment(random, indent)}${indent}${name}:${value(random, depth, indent)}`)
    .join('');
}

function comment(random: Random, indent: string): string {
  return random.chance(0.2) ? `${indent}# a comment\n` : '';
}

function value(random: Random, depth: number, indent: string): string {
  const kind = random.integer(10);
  if (depth === 0 || kind < 5) return ` ${random.pick(SCALARS)}${random.chance(0.2) ? ' # inline' : ''}\n`;
  if (kind === 5) return ` ${random.pick(BLOCKS).replaceAll('@', indent)}\n`;
  if (kind === 6) return ` ${random.pick(['{}', '[]'])}\n`;
  if (kind < 9) return `\n${mapping(random, depth - 1, `${indent}  `)}`;
  const items = Array.from({ length: 1 + random.integer(3) }, () => {
    const item = random.chance(0.3) ? `\n${mapping(random, depth - 1, `${indent}    `)}` : ` ${random.pick(SCALARS)}\n`;
    return `${comment(random, `${indent}  `)}${indent}  -${item}`;
  });
  return `\n${items.join('')}`;
}

function documents(random: Random): string {
  const count = 1 + random.integer(3);
  return Array.from({ length: count }, () => `kind: Secret\n${mapping(random, 3, '')}`).join('---\n');
}

describe.skipIf(!isThere)('the real sops', () => {
  test(`decrypts ${CASES} random documents to the same values`, async () => {
    const random = seeded(SEED);
    const read = await readAgeKeys(readFileSync(KEY_FILE, 'utf8'));
    if (!read.ok) throw new Error(read.reason);
    const [ours, stranger] = [await recipientOf(readFileSync(KEY_FILE, 'utf8')), (await testKey()).recipient];
    const [plain, encrypted] = ['plain.yaml', 'encrypted.yaml'].map((name) => join(folder.path, name)) as [
      string,
      string,
    ];
    let compared = 0;
    for (let round = 0; round < CASES; round++) {
      writeFileSync(plain, documents(random));
      const to = random.pick([ours, `${stranger},${ours}`]);
      const macOnly = random.chance(0.3) ? ['--mac-only-encrypted'] : [];
      const made = sops(['--encrypt', '--age', to, ...random.pick(RULES), ...macOnly, plain]);
      if (made.status !== 0) continue;
      writeFileSync(encrypted, made.stdout);
      const decrypted = sops(['--decrypt', encrypted]);
      const openings = await openDocuments(made.stdout, { type: 'keys', keys: read.keys });
      const faults = openings.flatMap((each) => (each?.fault === undefined ? [] : [each.fault]));
      if (decrypted.status !== 0) {
        expect([made.stdout, faults.length > 0]).toEqual([made.stdout, true]);
        continue;
      }
      const values = readDocuments(decrypted.stdout, 'decrypted').map((each) => each.value);
      expect([made.stdout, faults, openings.map((each) => each?.value)]).toEqual([made.stdout, [], values]);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(CASES / 2);
    rmSync(encrypted);
  }, 600_000);

  test('takes what the test harness encrypts', async () => {
    const key = await testKey();
    const keyFile = join(folder.path, 'key');
    writeFileSync(keyFile, key.identity);
    const secret = {
      kind: 'Secret',
      metadata: { name: 'a' },
      stringData: { token: 'hunter2', empty: '', list: ['ü'] },
    };
    const file = join(folder.path, 'harness.json');
    writeFileSync(file, await sealed(secret, key));
    const decrypted = sops(['--decrypt', file], keyFile);
    expect(JSON.parse(decrypted.stdout)).toEqual(secret);
  });
});

/** The public half of the first key. */
async function recipientOf(keys: string): Promise<string> {
  return identityToRecipient(keys.split('\n').find((line) => line.startsWith('AGE-SECRET-KEY-1')) ?? '');
}
