// The built-in pack, and its fixtures: files named after what they claim, each a namespace with what is in it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { readPolicies } from '#kubernetes/rules/policy/read.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { declaredFacts } from '#reconciler/run/policy/facts.ts';
import { admittedObject, openPolicies } from '#reconciler/run/policy/policies.ts';
import { type LoadedResource, load } from '#reconciler/run/read/load.ts';

const FOLDER = import.meta.dirname;
const PACK = join(FOLDER, '../../policies');
const API_GROUP = 'toolhive.stacklok.dev';

export interface PackFixture {
  readonly policy: string;
  /** `allow`, `warn`, `deny` or `audit`, and what. */
  readonly claim: string;
  readonly path: string;
  readonly text: string;
}

export const PACK_FILES = readdirSync(PACK)
  .filter((name) => name.endsWith('.yaml'))
  .sort()
  .map((name) => ({ path: join('policies', name), text: readFileSync(join(PACK, name), 'utf8') }));

export function packFixtures(): PackFixture[] {
  const policies = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return policies.flatMap(({ name: policy }) =>
    readdirSync(join(FOLDER, policy)).map((file) => {
      const path = join(FOLDER, policy, file);
      return { policy, claim: file.slice(0, -'.yaml'.length), path, text: readFileSync(path, 'utf8') };
    }),
  );
}

export interface Said {
  readonly resource: LoadedResource;
  /** `deny policy: message`, `warn ...`, `audit ...`, sorted. */
  readonly results: readonly string[];
  readonly unknown: readonly string[];
}

export function loaded({ path, text }: Pick<PackFixture, 'path' | 'text'>): readonly LoadedResource[] {
  const { resources, problems } = load({
    source: 'fixture',
    documents: [{ path, oid: path, text }],
    kinds: KINDS,
    apiGroup: API_GROUP,
    builtin: bundledSchema,
  });
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  return resources;
}

/** What the pack says of everything in a namespace. ConfigMaps of a fixture stand for those of the pack. */
export function said(fixture: Pick<PackFixture, 'path' | 'text'>): Said[] {
  const resources = loaded(fixture);
  const own = resources.filter(({ id }) => id.kind === 'ConfigMap').map(({ object }) => JSON.stringify(object));
  const { set } = readPolicies([...PACK_FILES, ...own.map((text) => ({ path: fixture.path, text }))]);
  const evaluator = openPolicies({
    policies: set,
    kinds: KINDS,
    apiGroup: API_GROUP,
    definitions: [],
    facts: declaredFacts(resources, []),
  });
  return resources.filter(isChecked).map((resource) => {
    const { violations, unknown } = evaluator(admittedObject(resource));
    return {
      resource,
      results: violations.map(({ action, policy, message }) => `${action.toLowerCase()} ${policy}: ${message}`).sort(),
      unknown: unknown.map(({ policy, reason }) => `${policy}: ${reason}`),
    };
  });
}

function isChecked({ object }: { readonly object: KubeObject }): boolean {
  return object.apiVersion.startsWith(`${API_GROUP}/`);
}
