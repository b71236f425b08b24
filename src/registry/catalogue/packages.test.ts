// Tests which packages belong to images.

import { expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { packagesByImage } from './packages.ts';

const OCI = { registryType: 'oci', identifier: 'images.example.com/bees:1.2.3', transport: { type: 'stdio' } };
const NPM = { registryType: 'npm', identifier: '@fixture/bees', version: '1.2.3', transport: { type: 'stdio' } };

function found(...packages: readonly JsonObject[]) {
  return packagesByImage([{ packages: [OCI, ...packages] }]).get(OCI.identifier) ?? [];
}

test('returns the packages that the entry of an image names in addition to the image', () => {
  const pypi = { ...NPM, registryType: 'pypi', identifier: 'bees', version: '1.2.3.post1' };
  expect(found(NPM, pypi)).toEqual([
    { type: 'npm', name: '@fixture/bees', version: '1.2.3', transport: 'stdio', args: [] },
    { type: 'pypi', name: 'bees', version: '1.2.3.post1', transport: 'stdio', args: [] },
  ]);
});

test('finds an image with a separate version by identifier and tag', () => {
  const old = { registryType: 'oci', identifier: 'images.example.com/bees', version: '1.2.3' };
  expect([...packagesByImage([{ packages: [old, NPM] }]).keys()]).toContain('images.example.com/bees:1.2.3');
});

test('returns each different package once if several entries name an image', () => {
  const documents = [
    { packages: [OCI, NPM] },
    { packages: [OCI, NPM] },
    { packages: [OCI, { ...NPM, version: '2.0.0' }] },
  ];
  expect(packagesByImage(documents).get(OCI.identifier)).toHaveLength(2);
});

test.each([
  { reason: 'without a version', change: { version: undefined } },
  { reason: 'with a tag as version', change: { version: 'latest' } },
  { reason: 'with a range as version', change: { version: '^1.2.3' } },
  { reason: 'with an incomplete version', change: { version: '1.2' } },
  { reason: 'whose name is an option', change: { identifier: '--call=sh' } },
  { reason: 'whose name is an address', change: { identifier: 'https://evil.example.com/x.tgz' } },
  { reason: 'whose name is a repository', change: { identifier: 'someone/bees' } },
  { reason: 'whose name is a folder', change: { identifier: './bees' } },
  { reason: 'whose name is two words', change: { identifier: 'bees; rm' } },
  { reason: 'of another registry', change: { registryBaseUrl: 'https://npm.example.com' } },
  {
    reason: 'with arguments for its runtime',
    change: { runtimeArguments: [{ type: 'positional', value: '--call' }] },
  },
  { reason: 'of another type', change: { registryType: 'nuget' } },
])('ignores a package $reason', ({ change }) => {
  expect(found({ ...NPM, ...change } as JsonObject)).toEqual([]);
});

test.each([
  { version: '1.0', is: true },
  { version: '2!1.0rc1', is: true },
  { version: '1.*', is: false },
  { version: '>=1', is: false },
  { version: '1.0 --index-url=x', is: false },
])('accepts the PyPI version $version: $is', ({ version, is }) => {
  expect(found({ ...NPM, registryType: 'pypi', identifier: 'bees', version })).toHaveLength(is ? 1 : 0);
});

test.each([
  { reason: 'fixed', args: [{ type: 'positional', value: 'serve' }], words: ['serve'] },
  { reason: 'a default', args: [{ type: 'named', name: '--port', default: '80' }], words: ['--port', '80'] },
  { reason: 'a flag', args: [{ type: 'named', name: '--stdio', value: '' }], words: ['--stdio'] },
  { reason: 'left out', args: [{ type: 'named', name: '--log' }], words: [] },
  { reason: 'required', args: [{ type: 'named', name: '--key', isRequired: true }], words: undefined },
  { reason: 'a variable', args: [{ type: 'positional', value: '{dir}', variables: { dir: {} } }], words: undefined },
])('returns $words for an argument that is $reason', ({ args, words }) => {
  expect(found({ ...NPM, packageArguments: args } as JsonObject)).toMatchObject([{ args: words }]);
});
