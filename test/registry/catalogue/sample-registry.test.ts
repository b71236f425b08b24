// The registry file of the sample fleet: what the script writes, valid, and of the size of a real one.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseRegistry } from '#registry/catalogue/formats/registry.ts';
import { sampleRegistry } from '../../../scripts/sample-registry.ts';

const text = readFileSync(new URL('../../../manifests/fleet/registry.json', import.meta.url), 'utf8');

test('the committed file is what the script writes', () => {
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(sampleRegistry())));
});

test('every one of its 102 entries is valid, and no two containers but our own share an image', () => {
  const parsed = parseRegistry('toolhive', text, 'registry.json');
  expect(parsed).toMatchObject({ ok: true, rejected: [] });
  const entries = parsed.ok ? parsed.entries : [];
  expect(entries.length).toBe(102);
  expect(new Set(entries.flatMap(({ images }) => images)).size).toBe(78);
});

test('it names no host but ours and those that are reserved for examples (RFC 2606)', () => {
  const hosts = [...text.matchAll(/https?:\/\/([^/"]+)|"(?:image|allow_host)": \[?"([^/"]+)/g)].map(
    ([, url, other]) => url ?? other ?? '',
  );
  expect(hosts.length).toBeGreaterThan(100);
  const others = hosts.filter((host) => !/(^|\.)example\.(com|org)$/.test(host));
  expect(new Set(others)).toEqual(new Set(['ghcr.io', 'github.com']));
});
