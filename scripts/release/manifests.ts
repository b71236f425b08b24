// Manifests of a release: those that set every field of a kind, to be stored under its definitions; and a fleet with all
// kinds, out of its sample, in namespaces that no other has.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Release } from './checkout.ts';

/** Undefined removes a file. */
export type Files = Readonly<Record<string, string | undefined>>;

const PREFIX = 'upgrade-';
export const HOME = `${PREFIX}home`;
export const REGISTRY = { namespace: `${PREFIX}platform`, name: 'catalogue' };

const FOLDERS = ['docs', 'ops'];

/** The first document of every fixture that its kind finds nothing wrong with, without what a server fills in. */
export function manifestsOfEveryKind({ dir }: Release): readonly unknown[] {
  const root = join(dir, 'test/reconciler/kinds');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted();
  return files
    .filter((file) => /^[a-z]+\/(minimal|full)[^/]*\.yaml$/.test(file))
    .map((file) => {
      const { apiVersion, kind, metadata, spec } = firstOf(readFileSync(join(root, file), 'utf8'));
      const name = `${metadata.name}-${file.slice(file.indexOf('/') + 1, -'.yaml'.length)}`;
      const { labels, annotations } = metadata;
      return { apiVersion, kind, metadata: { name, labels, annotations }, spec };
    });
}

// biome-ignore lint/suspicious/noExplicitAny: documents of many kinds, of another release
function firstOf(text: string): any {
  return parseAllDocuments(text)[0]?.toJS();
}

/** The commits of the fleet, one after the other: all of it, a change, a server that is gone. */
export function fleetOf({ dir }: Release): readonly Files[] {
  const root = join(dir, 'manifests/fleet/cluster');
  const read = (file: string) => placed(readFileSync(join(root, file), 'utf8'));
  const files = FOLDERS.flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`));
  const first = Object.fromEntries([
    ...['namespaces.yaml', ...files].map((file) => [`cluster/${file}`, read(file)]),
    ['cluster/catalogue.yaml', catalogue(dir)],
    ['cluster/keyed.yaml', KEYED],
  ]);
  const group = first['cluster/docs/group.yaml'] ?? '';
  const changed = group.replace('description: ', 'description: All ');
  const retired = files.toSorted().find((file) => /^kind: MCPServer$/m.test(read(file)));
  return [first, { 'cluster/docs/group.yaml': changed }, { [`cluster/${retired}`]: undefined }];
}

function placed(text: string): string {
  return text
    .replaceAll(/^(\s*namespace: )(\w+)/gm, `$1${PREFIX}$2`)
    .replaceAll(/^(kind: Namespace\nmetadata:\n {2}name: )(\w+)/gm, `$1${PREFIX}$2`);
}

/** What the service of a registry shows, the first servers of the sample. */
function catalogue(dir: string): string {
  const { servers, ...rest } = JSON.parse(readFileSync(join(dir, 'manifests/fleet/registry.json'), 'utf8'));
  const few = { ...rest, servers: Object.fromEntries(Object.entries(servers).slice(0, 5)) };
  const { namespace, name } = REGISTRY;
  const source = { configMapRef: { name: 'servers', key: 'registry.json' } };
  const documents = [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'servers', namespace },
      data: { 'registry.json': JSON.stringify(few) },
    },
    {
      apiVersion: 'toolhive.stacklok.dev/v1alpha1',
      kind: 'MCPRegistry',
      metadata: { name, namespace },
      spec: {
        displayName: 'Servers',
        registries: [
          { name: 'all', format: 'toolhive', ...source },
          { name: 'wiki', format: 'toolhive', ...source, filter: { names: { include: ['*-wiki'] } } },
        ],
      },
    },
  ];
  return documents.map((document) => JSON.stringify(document)).join('\n---\n');
}

/** A pod that follows its Secret carries a digest of it. */
const KEYED = `apiVersion: v1
kind: Secret
metadata: {name: key, namespace: ${PREFIX}docs}
stringData: {key: value}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: keyed, namespace: ${PREFIX}docs}
spec:
  image: images.example.com/keyed:1.0.0
  transport: stdio
  secrets: [{name: key, key: key, targetEnvName: KEY}]
`;
