// The objects of the chart, each with the conditions under which it is there.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { jsonEquals } from '#std/json.ts';
import { kustomized } from './kustomize.ts';
import { isOf } from './places.ts';
import { CONDITIONS, type Condition, PARTS, type Part } from './table.ts';

const MANIFESTS = join(fileURLToPath(new URL('../..', import.meta.url)), 'manifests');

export interface ChartDocument {
  readonly part: Part;
  readonly object: KubeObject;
  readonly conditions: readonly Condition[];
}

/** Stands in the objects of a part that is repeated for each of a list of namespaces. */
const EACH = 'each';

/** Reads manifests when it is called: the definitions are written by the same run. */
export function chartDocuments(): readonly ChartDocument[] {
  return PARTS.flatMap((part) =>
    documentsOf(part).map(({ object, conditions }) => {
      const own = CONDITIONS.filter((condition) => isOf(condition.object, object)).map(({ when }) => when);
      return { part, object, conditions: [...(part.when === undefined ? [] : [part.when]), ...conditions, ...own] };
    }),
  );
}

type Conditional = Pick<ChartDocument, 'object' | 'conditions'>;

function documentsOf(part: Part): readonly Conditional[] {
  const objects = objectsOf(part, part.components);
  if (part.otherwise === undefined) return objects.map((object) => ({ object, conditions: [] }));
  const { when, components } = part.otherwise;
  const others = objectsOf(part, components);
  const only = (
    own: readonly KubeObject[],
    other: readonly KubeObject[],
    condition: Condition,
  ): readonly Conditional[] =>
    own
      .filter((object) => !other.some((each) => jsonEquals(each, object)))
      .map((object) => ({ object, conditions: [condition] }));
  const both = objects.filter((object) => others.some((each) => jsonEquals(each, object)));
  return [
    ...both.map((object) => ({ object, conditions: [] })),
    ...only(objects, others, { ...when, is: !when.is }),
    ...only(others, objects, when),
  ];
}

function objectsOf({ resources, each }: Part, components: readonly string[] = []): readonly KubeObject[] {
  return kustomized(MANIFESTS, { resources, components, ...(each !== undefined && { namespace: EACH }) });
}
