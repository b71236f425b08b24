// The sample config repository is what a newcomer learns the kinds from: it must be right.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { load } from '#reconciler/run/read/load.ts';
import { viewOf } from './fixture.ts';

const CLUSTER = join(import.meta.dirname, '../../../manifests/fleet/cluster');

function loadFleet() {
  const paths = readdirSync(CLUSTER, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'));
  const documents = paths.map((path) => ({ path, oid: path, text: readFileSync(join(CLUSTER, path), 'utf8') }));
  return load({ source: 'fleet', documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev', builtin: bundledSchema });
}

const { resources, problems } = loadFleet();
const servers = resources.filter(({ id }) => id.kind === 'MCPServer');

it('has no problem, not even a warning', () => {
  expect(problems).toEqual([]);
});

it('names nothing that is not in it, but for what Kubernetes waits for', () => {
  const missing = resources.flatMap(({ id, kind, defaulted }) => {
    if (kind === undefined || defaulted === undefined) return [];
    const around = resources.filter((other) => other.id.namespace === id.namespace);
    const view = viewOf(around.map(({ object }): KubeObject => object));
    return kind.references(defaulted).filter(({ kind, name, optional }) => {
      return optional === undefined && view.find(kind, name) === undefined;
    });
  });
  expect(missing).toEqual([]);
});

it('shows every kind and every transport', () => {
  expect(new Set(resources.map(({ id }) => id.kind))).toEqual(new Set(['Namespace', ...KINDS.map(({ kind }) => kind)]));
  const transports = servers.map(({ defaulted }) => defaulted?.spec?.transport);
  expect(new Set(transports)).toEqual(new Set(['sse', 'stdio', 'streamable-http']));
});

it('runs only images that are in its catalogue', () => {
  const catalogue = JSON.parse(readFileSync(join(CLUSTER, '../registry.json'), 'utf8')) as {
    servers: Record<string, { image: string }>;
  };
  const known = new Set(Object.values(catalogue.servers).map(({ image }) => image));
  const images = servers.flatMap(({ kind, defaulted }) =>
    defaulted === undefined ? [] : (kind?.images(defaulted) ?? []),
  );
  expect(images.length).toBe(4);
  expect(images.filter(({ image }) => !known.has(image))).toEqual([]);
});
