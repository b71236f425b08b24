// Checks our own definitions by the rules of an API server.

import { expect, test } from 'vitest';
import { checkDefinition } from '#kubernetes/rules/structural/definition.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';

test.each(KINDS.map((kind) => ({ kind, name: kind.kind })))('the definition of $name would be accepted', ({ kind }) => {
  expect(
    checkDefinition({
      ...crd(kind, 'toolhive.stacklok.dev'),
      metadata: { name: `${kind.plural}.toolhive.stacklok.dev` },
    }),
  ).toEqual([]);
});
