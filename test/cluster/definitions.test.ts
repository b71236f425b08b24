// Our CustomResourceDefinitions on an API server: accepted without reservation, and of use to people with kubectl. The part
// with kubectl is skipped, and said so, where there is none.

import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { flat, rootField } from '#reconciler/kinds/fields.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Kind } from '#reconciler/kinds/kind.ts';
import type { JsonObject } from '#std/json.ts';
import { readFixtures } from '../reconciler/kinds/fixture.ts';
import { defineKinds, newGroup } from './definitions.ts';
import { openServer, type SuiteServer } from './server.ts';

const KUBECTL = process.env.KUBECTL ?? 'kubectl';
const isThere = spawnSync(KUBECTL, ['version', '--client']).status === 0;
if (!isThere) process.stderr.write('kubectl tests skipped: put kubectl on PATH, or name it in KUBECTL\n');

const group = newGroup('definitions');
let server: SuiteServer;
let client: ConnectedCluster;
let namespace: string;
let cache: string;

beforeAll(async () => {
  server = await openServer();
  client = await server.client('definitions');
  namespace = await server.namespace('definitions');
  cache = mkdtempSync(join(tmpdir(), 'kubectl-'));
  await defineKinds(server, client, group);
  for (const kind of KINDS) await client.apply(minimal(kind), { force: true });
});

afterAll(async () => {
  rmSync(cache, { recursive: true, force: true });
  await server.close();
});

/** The smallest fixture, under the name `sample`. */
function minimal(kind: Kind): KubeObject {
  const written = readFixtures(kind).find(({ name }) => name === 'minimal')?.written;
  const version = { apiVersion: `${group}/v1alpha1`, kind: kind.kind };
  return { ...written, ...version, metadata: { name: 'sample', namespace } } as KubeObject;
}

const ROWS = KINDS.map((kind) => ({ name: kind.kind, kind }));

test.each(ROWS)('$name is established: its names and its schema are accepted', async ({ kind }) => {
  const id = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
  const living = await client.get({ ...id, name: `${kind.plural}.${group}` });
  const { conditions } = (living?.status ?? {}) as { conditions?: { type: string; status: string }[] };
  const reported = (conditions ?? []).map(({ type, status }) => `${type} ${status}`).sort();
  // NonStructuralSchema, KubernetesAPIApprovalPolicyConformant and Terminating stand for reservations.
  expect(reported, JSON.stringify(conditions)).toEqual(['Established True', 'NamesAccepted True']);
});

function kubectl(...args: readonly string[]): Promise<string> {
  const common = ['--kubeconfig', server.kubeconfig, '--cache-dir', cache, '--namespace', namespace];
  return new Promise((resolve, reject) => {
    execFile(KUBECTL, [...common, ...args], { timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`kubectl ${args.join(' ')}: ${stderr}`));
    });
  });
}

describe.skipIf(!isThere)('kubectl', () => {
  test.each(ROWS)('gets a $name by its every name, with its columns', async ({ kind }) => {
    const { plural, singular, shortNames, printerColumns } = kind;
    const wide = printerColumns.map(({ name }) => name.toUpperCase());
    const narrow = printerColumns.filter(({ priority = 0 }) => priority === 0).map(({ name }) => name.toUpperCase());
    expect(headOf(await kubectl('get', `${plural}.${group}`))).toEqual(['NAME', ...narrow]);
    expect(headOf(await kubectl('get', `${singular}.${group}`, '-o', 'wide'))).toEqual(['NAME', ...wide]);
    for (const name of shortNames) {
      const listed = await kubectl('get', `${name}.${group}`, '-o', 'name');
      expect(listed).toBe(`${singular}.${group}/sample\n`);
    }
  });

  test('gets all kinds of a category together', async () => {
    const categories = new Set(KINDS.flatMap((kind) => kind.categories));
    for (const category of categories) {
      const listed = (await kubectl('get', category, '-o', 'name')).split('\n');
      const members = KINDS.filter((kind) => kind.categories.includes(category));
      expect(listed).toEqual(expect.arrayContaining(members.map(({ singular }) => `${singular}.${group}/sample`)));
    }
  });

  test.each(ROWS)('explains $name and every field of its spec', async ({ kind }) => {
    const version = ['--api-version', `${group}/v1alpha1`];
    const about = await kubectl('explain', kind.plural, ...version);
    expect(about.replaceAll(/\s+/g, ' ')).toContain(kind.description);
    const outline = await kubectl('explain', `${kind.plural}.spec`, '--recursive', ...version);
    const names = flat(rootField(kind).fields.filter(({ path }) => path === 'spec')).slice(1);
    const shown = [...outline.matchAll(/^ {2,}(\S+)\t</gm)].map(([, name]) => name);
    expect(shown.length).toBe(names.length);
  });
});

function headOf(table: string): string[] {
  return (table.split('\n')[0] ?? '').trim().split(/ {2,}/);
}

test.each(ROWS)('a $name is stored with the defaults that we fill in', async ({ kind }) => {
  const object = minimal(kind);
  const living = await client.get({ apiVersion: object.apiVersion, kind: kind.kind, namespace, name: 'sample' });
  const expected = readFixtures(kind).find(({ name }) => name === 'minimal')?.resource.spec as JsonObject;
  expect(living?.spec ?? {}).toEqual(expected ?? {});
});
