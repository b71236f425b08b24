// Tests which packages belong to images.

import { expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { packagesByImage } from './packages.ts';

const OCI = { registryType: 'oci', identifier: 'images.example.com/bees:1.2.3', transport: { type: 'stdio' } };
const NPM = { registryType: 'npm', identifier: '@fixture/bees', version: '1.2.3', transport: { type: 'stdio' } };

function found(...packages: readonly JsonObject[]) {
  return packagesByImage([{ packages: [OCI, ...packages] }]).get(OCI.identifier) ?? [];
}

test('an image is the packages that its entry names beside it', () => {
  const pypi = { ...NPM, registryType: 'pypi', identifier: 'bees', version: '1.2.3.post1' };
  expect(found(NPM, pypi)).toEqual([
    { type: 'npm', name: '@fixture/bees', version: '1.2.3', transport: 'stdio', args: [] },
    { type: 'pypi', name: 'bees', version: '1.2.3.post1', transport: 'stdio', args: [] },
  ]);
});

test('an image with a separate version is found by its tag', () => {
  const old = { registryType: 'oci', identifier: 'images.example.com/bees', version: '1.2.3' };
  expect([...packagesByImage([{ packages: [old, NPM] }]).keys()]).toContain('images.example.com/bees:1.2.3');
});

test('entries that name different packages for an image give all of them, the same one once', () => {
  const documents = [
    { packages: [OCI, NPM] },
    { packages: [OCI, NPM] },
    { packages: [OCI, { ...NPM, version: '2.0.0' }] },
  ];
  expect(packagesByImage(documents).get(OCI.identifier)).toHaveLength(2);
});

test.each([
  { reason: 'without a version', change: { version: undefined } },
  { reason: 'of a tag', change: { version: 'latest' } },
  { reason: 'of a range', change: { version: '^1.2.3' } },
  { reason: 'of part of a version', change: { version: '1.2' } },
  { reason: 'whose name is an option', change: { identifier: '--call=sh' } },
  { reason: 'whose name is an address', change: { identifier: 'https://evil.example.com/x.tgz' } },
  { reason: 'whose name is a repository', change: { identifier: 'someone/bees' } },
  { reason: 'whose name is a folder', change: { identifier: './bees' } },
  { reason: 'whose name is two words', change: { identifier: 'bees; rm' } },
  { reason: 'of another registry', change: { registryBaseUrl: 'https://npm.example.com' } },
  {
    reason: 'with options for the program that starts it',
    change: { runtimeArguments: [{ type: 'positional', value: '--call' }] },
  },
  { reason: 'of another kind', change: { registryType: 'nuget' } },
])('a package $reason is none that runs', ({ change }) => {
  expect(found({ ...NPM, ...change } as JsonObject)).toEqual([]);
});

test.each([
  { version: '1.0', is: true },
  { version: '2!1.0rc1', is: true },
  { version: '1.*', is: false },
  { version: '>=1', is: false },
  { version: '1.0 --index-url=x', is: false },
])('PyPI has $version as an exact version: $is', ({ version, is }) => {
  expect(found({ ...NPM, registryType: 'pypi', identifier: 'bees', version })).toHaveLength(is ? 1 : 0);
});

test.each([
  { reason: 'fixed', args: [{ type: 'positional', value: 'serve' }], words: ['serve'] },
  { reason: 'a default', args: [{ type: 'named', name: '--port', default: '80' }], words: ['--port', '80'] },
  { reason: 'a flag', args: [{ type: 'named', name: '--stdio', value: '' }], words: ['--stdio'] },
  { reason: 'left out', args: [{ type: 'named', name: '--log' }], words: [] },
  { reason: 'required', args: [{ type: 'named', name: '--key', isRequired: true }], words: undefined },
  { reason: 'a variable', args: [{ type: 'positional', value: '{dir}', variables: { dir: {} } }], words: undefined },
])('arguments that are $reason become $words', ({ args, words }) => {
  expect(found({ ...NPM, packageArguments: args } as JsonObject)).toMatchObject([{ args: words }]);
});
