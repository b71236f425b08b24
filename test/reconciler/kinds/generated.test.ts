// What is generated out of the kinds is committed as it is generated now.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { kindPages } from '../../../scripts/kind-pages.ts';
import { schemaFiles } from '../../../scripts/schema-files.ts';

const ROOT = join(import.meta.dirname, '../../..');
const API_GROUP = 'toolhive.stacklok.dev';

/** Every file below a folder of the project, by its path there. */
function filesOf(folder: string): ReadonlyMap<string, string> {
  const path = join(ROOT, folder);
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [file.slice(path.length + 1), readFileSync(file, 'utf8')];
    }),
  );
}

it('manifests/crds holds the CRD of every kind, and what makes one of them for kustomize', () => {
  const files = filesOf('manifests/crds');
  const names = KINDS.map(({ plural }) => `${plural}.yaml`).sort();
  expect([...files.keys()].sort()).toEqual(['Kustomization', ...names]);
  expect(parse(files.get('Kustomization') ?? '').resources.toSorted()).toEqual(names);
  for (const kind of KINDS) {
    const text = files.get(`${kind.plural}.yaml`) ?? '';
    expect(parse(text)).toEqual(JSON.parse(JSON.stringify(crd(kind, API_GROUP))));
  }
});

it('docs/kinds holds a page for every kind and one that lists them, and nothing else', () => {
  expect(filesOf('docs/kinds')).toEqual(kindPages(KINDS, API_GROUP));
});

it('docs/schemas holds a schema for every kind and one for all, and nothing else', () => {
  expect(filesOf('docs/schemas')).toEqual(schemaFiles(KINDS, API_GROUP).folder);
});

it('the sample repository has the schema that its manifests name', () => {
  const text = readFileSync(join(ROOT, 'manifests/fleet/schema.json'), 'utf8');
  expect(text).toBe(schemaFiles(KINDS, API_GROUP).combined);
});
