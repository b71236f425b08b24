import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

test('generates no code from the schema of a workflow', async () => {
  // The meta-schemas must be compiled again: another test may have compiled them already.
  vi.resetModules();
  const made: string[] = [];
  // ajv generates code with the global `Function`.
  vi.stubGlobal(
    'Function',
    new Proxy(Function, {
      construct(target, texts: string[]) {
        made.push(texts.join('\n'));
        return Reflect.construct(target, texts);
      },
    }),
  );
  const { schemaFindings } = await import('./schemas.ts');
  const mark = 'owned';
  for (const $schema of ['https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema#']) {
    const hostile = {
      $schema,
      $id: `https://example.com/${mark}`,
      type: 'object',
      properties: { [`a"];globalThis.${mark}=1;//`]: { const: `\`;${mark}`, pattern: `${mark}+`, default: mark } },
      required: [`${mark}']`],
      $defs: { [mark]: { enum: [mark], format: mark, $comment: mark } },
    };
    expect(schemaFindings(hostile, '/schema')).toEqual([]);
  }
  // Fails if the meta-schemas were not compiled during this test.
  expect(made.length).toBeGreaterThan(0);
  expect(made.filter((text) => text.includes(mark))).toEqual([]);
});
