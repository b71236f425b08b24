// Tests reading and replacing user interfaces in valid and invalid tool definitions.

import { expect, it } from 'vitest';
import { readAppMarks, renameAppUris } from './app-marks.ts';

const BOTH = { forModel: true, forApp: true };

it.each([
  ['no metadata', {}, { uris: [], ...BOTH }],
  ['other metadata', { _meta: { color: 'red' } }, { uris: [], ...BOTH }],
  ['a user interface', { _meta: { ui: { resourceUri: 'ui://a' } } }, { uris: ['ui://a'], ...BOTH }],
  ['the older key', { _meta: { 'ui/resourceUri': 'ui://a' } }, { uris: ['ui://a'], ...BOTH }],
  ['only for it', { _meta: { ui: { visibility: ['app'] } } }, { uris: [], forModel: false, forApp: true }],
  ['only for models', { _meta: { ui: { visibility: ['model'] } } }, { uris: [], forModel: true, forApp: false }],
  ['for nobody', { _meta: { ui: { visibility: [] } } }, { uris: [], forModel: false, forApp: false }],
  ['a visibility that is not a list', { _meta: { ui: { visibility: 'app' } } }, { uris: [], ...BOTH }],
  ['values of other types', { _meta: { ui: [{ resourceUri: 'ui://a' }], 'ui/resourceUri': 7 } }, { uris: [], ...BOTH }],
  ['metadata that is not an object', { _meta: 'ui' }, { uris: [], ...BOTH }],
])('reads %s', (_name, definition, marks) => {
  expect(readAppMarks(Buffer.from(JSON.stringify({ name: 'a', ...definition })))).toEqual(marks);
});

it('reads no metadata with a key that is not valid Unicode', () => {
  for (const meta of ['{"\\ud800":1}', '{"ui":{"\\ud800":1}}'])
    expect(readAppMarks(Buffer.from(`{"name":"a","_meta":${meta}}`))).toBeUndefined();
});

it('replaces each occurrence of the URI, and keeps all other bytes', () => {
  const definition =
    '{ "_meta":{"ui/resourceUri":"ui://a", "ui":{"big":9007199254740993,"resourceUri":"ui:\\/\\/a"}} }';
  const renamed = renameAppUris(Buffer.from(definition), (uri) => uri.replace('ui://', 'ui://b/')).toString();
  expect(renamed).toBe(definition.replace('ui://a', 'ui://b/a').replace('ui:\\/\\/a', 'ui://b/a'));
});

it('returns the same bytes if no URI changes', () => {
  const definition = Buffer.from('{"_meta":{"ui":{"resourceUri":"ui://a"}}}');
  expect(renameAppUris(definition, (uri) => uri)).toBe(definition);
});
