// The manifests that stories begin with: built-in kinds from manifests/, ours from the fixtures of test/reconciler/kinds.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { bundledKinds } from '#kubernetes/rules/schemas/bundled.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { readFixtures } from '../reconciler/kinds/fixture.ts';

export interface Subject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** As people wrote them: names, and namespaces of their own, are replaced. */
  readonly manifests: readonly KubeObject[];
}

const FOLDER = join(import.meta.dirname, 'manifests');

/** The kinds that are judged; ours in the given API group. */
export function subjects(group: string): Subject[] {
  const written = readdirSync(FOLDER)
    .sort()
    .flatMap((file) => readDocuments(readFileSync(join(FOLDER, file), 'utf8'), file))
    .map(({ value }) => value as unknown as KubeObject);
  const builtin = bundledKinds().map(({ apiVersion, kind, plural, namespaced }) => {
    const manifests = written.filter((each) => each.kind === kind && each.apiVersion === apiVersion);
    return { apiVersion, kind, plural, namespaced, manifests };
  });
  const own = KINDS.map((kind) => ({
    apiVersion: `${group}/v1alpha1`,
    kind: kind.kind,
    plural: kind.plural,
    namespaced: true,
    manifests: readFixtures(kind)
      .filter(({ problems }) => problems.every((problem) => !problem.includes(' error ')))
      .map(({ written: own }) => ({ ...own, apiVersion: `${group}/v1alpha1` }) as unknown as KubeObject),
  }));
  return [...builtin, ...own].filter(({ manifests }) => manifests.length > 0);
}

/** The path of all objects of a kind, in a namespace where one is given. */
export function collectionOf(namespace: string | undefined, { apiVersion, plural }: Subject): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
}
