// A kind looks only into such Secrets and ConfigMaps as a resource names in its references, or makes: of all others a run
// knows nothing but their metadata (decision 0004).

import { expect, test } from 'vitest';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Resource, View } from '#reconciler/kinds/kind.ts';
import type { JsonObject } from '#std/json.ts';
import { type Fixture, readFixtures, SETTINGS, schemas } from './fixture.ts';

const LARGE: ReadonlySet<string> = new Set(['ConfigMap', 'Secret']);

const fixtures = KINDS.flatMap((kind) => readFixtures(kind).filter(({ name }) => !name.startsWith('invalid-')));

test.each(fixtures.map((fixture) => ({ fixture, of: `${fixture.kind.kind} (${fixture.name})` })))(
  '$of looks into nothing that neither a reference nor the configuration of the instance names',
  ({ fixture }) => {
    const { kind, resource, view } = fixture;
    const looked = new Set<string>();
    const watched: View = {
      find: (target, name) => {
        if (LARGE.has(target)) looked.add(`${target} ${name}`);
        return view.find(target, name);
      },
      all: view.all,
    };
    const observed = { view: watched, refusals: [], failures: [], now: '2026-01-01T00:00:00Z' };
    kind.inspect(resource, watched);
    const made = [...kind.children(resource, watched, SETTINGS), ...kind.generated(resource, SETTINGS)];
    kind.status(resource, observed);
    // A run reads both kinds of names whole (run/observe/needed.ts).
    const configured = kind.configured(resource, SETTINGS).map((each) => `${each.kind} ${each.name}`);
    const known = new Set([...namesAround(fixture), ...configured, ...made.map(nameOf)]);
    expect([...looked].filter((name) => !known.has(name))).toEqual([]);
  },
);

function nameOf(
  made: { object: { kind: string; metadata: { name: string } } } | { kind: string; metadata: { name: string } },
) {
  const { kind, metadata } = 'object' in made ? made.object : made;
  return `${kind} ${metadata.name}`;
}

/** Named by the resource, or by another one of ours around it. */
function namesAround({ kind, resource, around }: Fixture): string[] {
  const others = around.flatMap((object) => {
    const found = KINDS.find((each) => each.kind === object.kind);
    const schema = found === undefined ? undefined : schemas.get(found);
    const defaulted: unknown = schema?.withDefaults(object);
    const isReadable = schema !== undefined && schema.validate(defaulted as JsonObject).length === 0;
    return found !== undefined && isReadable ? [{ kind: found, resource: defaulted as Resource }] : [];
  });
  return [{ kind, resource }, ...others].flatMap((each) =>
    each.kind.references(each.resource).map((reference) => `${reference.kind} ${reference.name}`),
  );
}
