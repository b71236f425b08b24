import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { choice, list, object, optional, text } from '#std/schema.ts';
import { readerOf } from './aliases.ts';
import { deprecatedFields } from './deprecated.ts';

const Ca = object({ bundle: optional(text('A bundle.')) }, 'An authority.', { aliases: { oldBundle: 'bundle' } });
const Schema = object(
  {
    type: choice('A sort.', ['plain', 'cloud'], { aliases: { vendor: 'cloud' } }),
    cloud: optional(object({ region: text('A region.'), ca: optional(Ca) }, 'Of a cloud.')),
    authorities: optional(list(Ca, 'Authorities.')),
  },
  'A thing.',
  { aliases: { vendor: 'cloud' } },
) as unknown as JsonObject;

const read = readerOf(Schema, '/spec');

describe('old names', () => {
  it('are read as the current names, at every depth', () => {
    const written = {
      type: 'vendor',
      vendor: { region: 'r', ca: { oldBundle: 'b' } },
      authorities: [{ oldBundle: 'c' }],
    };
    expect(read(written).value).toEqual({
      type: 'cloud',
      cloud: { region: 'r', ca: { bundle: 'b' } },
      authorities: [{ bundle: 'c' }],
    });
  });

  it.each([
    { asked: '/spec/cloud/region', place: '/spec/vendor/region', reason: 'below an old name' },
    { asked: '/spec/cloud/ca/bundle', place: '/spec/vendor/ca/oldBundle', reason: 'an old name below an old name' },
    { asked: '/spec/cloud', place: '/spec/vendor', reason: 'the old name itself' },
    { asked: '/spec/cloudy', place: '/spec/cloudy', reason: 'only whole tokens count' },
    { asked: '/spec/type', place: '/spec/type', reason: 'a word does not move' },
  ])('$asked is written at $place: $reason', ({ asked, place }) => {
    const { written } = read({ type: 'vendor', vendor: { region: 'r', ca: { oldBundle: 'b' } } });
    expect(written(asked)).toBe(place);
  });

  it('each cause a warning that names the current spelling', () => {
    const spec = { type: 'vendor', vendor: { region: 'r' }, authorities: [{ oldBundle: 'c' }] };
    expect(
      deprecatedFields(Schema, { version: 'v1alpha1', value: spec, pointer: '/spec' }).map(
        ({ pointer, message }) => `${pointer}: ${message}`,
      ),
    ).toEqual([
      '/spec/type: vendor is deprecated: use cloud instead',
      '/spec/authorities/0/oldBundle: oldBundle is deprecated: use bundle instead',
      '/spec/vendor: vendor is deprecated: use cloud instead',
    ]);
  });

  it('are in the schema, with a rule against an old and a current name at once', () => {
    expect(Schema).toMatchObject({
      required: ['type'],
      properties: { type: { enum: ['plain', 'cloud', 'vendor'] }, vendor: { type: 'object' } },
      'x-kubernetes-validations': [{ rule: '!has(self.vendor) || !has(self.cloud)' }],
    });
  });

  it('cause no copy of the value if the schema has none', () => {
    const plain = { region: 'r' };
    expect(readerOf({ type: 'object', properties: { region: { type: 'string' } } }, '')(plain).value).toBe(plain);
  });
});
