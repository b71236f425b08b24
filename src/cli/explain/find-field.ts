// Finds a kind or one of its fields by a path that a person typed.

import { lastName, rootField, type SpecField } from '#reconciler/kinds/fields.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Kind } from '#reconciler/kinds/kind.ts';
import { didYouMean } from '#std/closest.ts';
import { Failure } from '#std/failure.ts';

/**
 * Returns the kind and the field. `path` is any name of the kind with a field path, such as `mcpserver.spec.env`.
 * Throws Failure `usage`.
 */
export function findField(path: string): { readonly kind: Kind; readonly field: SpecField } {
  const [name = '', ...steps] = path.split('.');
  const kind = findKind(name);
  return { kind, field: fieldBelow(kind, rootField(kind), steps) };
}

/** Returns the kind whose kind, plural, singular or short name is `name`. Ignores upper and lower case. */
function findKind(name: string): Kind {
  const lower = name.toLowerCase();
  const found = KINDS.find((kind) => kindNames(kind).some((each) => each.toLowerCase() === lower));
  if (found !== undefined) return found;
  const longer = KINDS.filter((kind) => kindNames(kind).some((each) => each.toLowerCase().startsWith(lower)));
  const near =
    longer.length === 0
      ? didYouMean(name, KINDS.flatMap(kindNames))
      : ` Did you mean ${longer.map(({ kind }) => kind).join(' or ')}?`;
  const known = KINDS.map(({ kind }) => kind).join(', ');
  throw new Failure('usage', `There is no kind "${name}".${near} The kinds are ${known}.`);
}

function kindNames({ kind, plural, singular, shortNames }: Kind): readonly string[] {
  return [kind, plural, singular, ...shortNames];
}

function fieldBelow(kind: Kind, root: SpecField, steps: readonly string[]): SpecField {
  let field = root;
  for (const step of steps) {
    // `env[].name` and `env.name` name the same field: only the items of a list have fields.
    const name = step.replaceAll(/\[\d*\]|\{\}/g, '');
    const next = field.fields.find((each) => lastName(each) === name);
    if (next === undefined) throw new Failure('usage', noField(kind, field, name));
    field = next;
  }
  return field;
}

function noField(kind: Kind, field: SpecField, name: string): string {
  const where = field.path === '' ? kind.kind : `${kind.kind}.${field.path}`;
  const names = field.fields.map(lastName);
  if (names.length === 0) return `${where} is ${field.type}: no fields are described below it.`;
  return `${where} has no field "${name}".${didYouMean(name, names)} Its fields are ${names.join(', ')}.`;
}
