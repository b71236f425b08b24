// What is generated out of the kinds is committed as it is generated now.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdReference } from '../../scripts/crd-reference.ts';
import { crd } from '../../src/kinds/crd.ts';
import { KINDS } from '../../src/kinds/index.ts';

const ROOT = join(import.meta.dirname, '../..');
const API_GROUP = 'toolhive.stacklok.dev';

it('manifests/crds holds the CRD of every kind, and nothing else', () => {
  const folder = join(ROOT, 'manifests/crds');
  expect(readdirSync(folder).sort()).toEqual(KINDS.map(({ plural }) => `${plural}.yaml`).sort());
  for (const kind of KINDS) {
    const text = readFileSync(join(folder, `${kind.plural}.yaml`), 'utf8');
    expect(parse(text)).toEqual(JSON.parse(JSON.stringify(crd(kind, API_GROUP))));
  }
});

it('docs/crds.md is the reference of the kinds', () => {
  expect(readFileSync(join(ROOT, 'docs/crds.md'), 'utf8')).toBe(crdReference(KINDS, API_GROUP));
});
