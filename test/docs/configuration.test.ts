// docs/configuration.md and the published schemas of the settings follow from the schemas that the settings are read by.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { REGISTRY_CONFIG_SCHEMA } from '#contracts/registry/config.ts';
import { CONFIG_SCHEMA } from '#hosts/config/config.ts';
import { fieldsOf } from '#reconciler/kinds/fields.ts';
import { RULES } from '#std/schema/marks.ts';
import { settingsPage } from '../../scripts/settings-page.ts';
import { PAGES, ROOT } from './pages.ts';

test('the page is generated', () => {
  expect(readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8')).toBe(settingsPage());
});

test.each([
  ['skep.yaml', CONFIG_SCHEMA],
  ['registry.yaml', REGISTRY_CONFIG_SCHEMA],
])('every key of %s says what it means', (_, schema) => {
  const fields = fieldsOf(JSON.parse(JSON.stringify(schema)), '');
  expect(fields.length).toBeGreaterThan(50);
  expect(fields.filter(({ description }) => description === '').map(({ path }) => path)).toEqual([]);
});

test('a rule without a sentence for authors is not published', () => {
  const ruled = { type: 'string', description: 'A name.', [RULES]: [{}] };
  expect(() => fieldsOf({ type: 'object', properties: { name: ruled } }, '')).toThrow(
    'a rule has a sentence for authors',
  );
});

test.each([
  ['skep.json', 'README.md', { sources: [{ name: 'a', repository: 'git@h:r' }], nmae: 'prod' }],
  ['registry.json', 'docs/registry.md', { registries: [{ name: 'a', managed: {} }], databse: {} }],
])('schemas/%s takes what %s shows, and no slip of the pen', (name, path, slip) => {
  const accepts = new Ajv2020({ strict: false, validateFormats: false }).compile(
    JSON.parse(readFileSync(join(ROOT, 'docs/schemas', name), 'utf8')),
  );
  const shown = PAGES.find((page) => page.path === path)?.blocks.find(({ language }) => language === 'yaml');
  expect([accepts(parse(shown?.text ?? '')), accepts.errors]).toEqual([true, null]);
  expect(accepts(slip)).toBe(false);
});
