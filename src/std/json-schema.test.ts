import { Type as TypeBox } from 'typebox';
import { expect, test } from 'vitest';
import { type Static, Type } from './json-schema.ts';

/** Builds the same schema with either set of builders. */
function schemaBy(type: typeof Type) {
  return type.Object(
    {
      text: type.String({ minLength: 1, description: 'A text.' }),
      version: type.Literal('v1'),
      choice: type.Enum(['a', 'b'], { default: 'a' }),
      count: type.Optional(type.Integer({ minimum: 0 })),
      flags: type.Optional(type.Array(type.Boolean(), { minItems: 1 })),
      map: type.Record(type.String(), type.Integer(), { description: 'By name.' }),
      free: type.Optional(type.Unsafe<Map<string, string>>({ type: 'object' })),
      empty: type.Object({}),
      nothingRequired: type.Object({ maybe: type.Optional(type.String()) }, { additionalProperties: false }),
    },
    { title: 'Everything' },
  );
}

test('the builders return the same schemas as TypeBox', () => {
  const theirs: object = TypeBox;
  const own = JSON.stringify(schemaBy(Type), undefined, 1);
  expect(own).toBe(JSON.stringify(schemaBy(theirs as typeof Type), undefined, 1));
  expect(JSON.parse(own).required).toEqual(['text', 'version', 'choice', 'map', 'empty', 'nothingRequired']);
});

test('infers the type of valid values from a schema', () => {
  const value: Static<ReturnType<typeof schemaBy>> = {
    text: 'x',
    version: 'v1',
    choice: 'b',
    flags: [true],
    map: { one: 1 },
    empty: {},
    nothingRequired: {},
  };
  // @ts-expect-error: c is not a choice
  value.choice = 'c';
  expect(value.count).toBeUndefined();
});
