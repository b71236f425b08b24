// Tests which XML documents are parsed, and which are refused.

import { expect, it } from 'vitest';
import { readXml } from './xml.ts';

it.each([
  { text: '<a>b</a>', expected: { a: 'b' } },
  { text: '<?xml version="1.0" encoding="UTF-8"?>\n<a>b</a>\n', expected: { a: 'b' } },
  { text: '\uFEFF<a>b</a>', expected: { a: 'b' } },
  {
    text: '<a xmlns="https://example.com/" b=\'c>d\'>\n <b>1</b> <c>2</c>\n</a>',
    expected: { 'a/b': '1', 'a/c': '2' },
  },
  { text: '<a><b/><c></c><d /></a >', expected: { 'a/b': '', 'a/c': '', 'a/d': '' } },
  { text: '<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#x1F600;</a>', expected: { a: '<>&"\'AB😀' } },
  { text: '<a>&amp;lt;</a>', expected: { a: '&lt;' } },
  { text: '<a>x<b>1</b>y</a>', expected: { 'a/b': '1' }, reason: 'text beside elements does not matter' },
  { text: '<a>]]></a>', expected: { a: ']]>' } },
])('$text is parsed', ({ text, expected }) => {
  expect(Object.fromEntries(readXml(text) ?? [])).toEqual(expected);
});

it.each([
  { text: '', reason: 'nothing' },
  { text: 'a', reason: 'no element' },
  { text: '{"a":1}', reason: 'JSON' },
  { text: '<a>', reason: 'an element that is not ended' },
  { text: '<a><b></a></b>', reason: 'elements that cross' },
  { text: '<a>b</a><a>c</a>', reason: 'two roots' },
  { text: '<a/><b/>', reason: 'two empty roots' },
  { text: '<a>b</a>c', reason: 'text after the root' },
  { text: 'x<a>b</a>', reason: 'text before the root' },
  { text: '</a>', reason: 'an end without a start' },
  { text: '<a>b</a></a>', reason: 'an end too many' },
  { text: '<a>b</a/>', reason: 'an end that is empty' },
  { text: '<a>b</a c="d">', reason: 'an end with an attribute' },
  { text: '<a><b>1</b><b>2</b></a>', reason: 'two texts of one path' },
  { text: '<!DOCTYPE a><a>b</a>', reason: 'a document type' },
  { text: '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', reason: 'an entity of its own' },
  { text: '<a>&x;</a>', reason: 'an unknown entity' },
  { text: '<a>&constructor;</a>', reason: 'an entity that objects inherit' },
  { text: '<a>&#0;</a>', reason: 'the character 0' },
  { text: '<a>&#x110000;</a>', reason: 'a number that is not a character' },
  { text: '<a>&amp</a>', reason: 'an entity that is not ended' },
  { text: '<a>&</a>', reason: 'a lone ampersand' },
  { text: '<a><!-- c --></a>', reason: 'a comment' },
  { text: '<a><![CDATA[b]]></a>', reason: 'CDATA' },
  { text: '<a><?b c?></a>', reason: 'a processing instruction' },
  { text: '<a b=c>d</a>', reason: 'an attribute without quotes' },
  { text: '<html><br>x</html>', reason: 'HTML' },
  { text: '<x:a>b</x:a>', reason: 'a prefix' },
  { text: `${'<a>'.repeat(17)}b${'</a>'.repeat(17)}`, reason: 'elements too deep' },
])('$reason is refused', ({ text }) => {
  expect(readXml(text)).toBeUndefined();
});

it.each([
  { reason: 'elements', text: '<a>'.repeat(40_000) },
  { reason: 'attributes', text: `<a ${'b="c" '.repeat(20_000)}` },
  { reason: 'spaces', text: `<a${' '.repeat(120_000)}b` },
  { reason: 'ampersands', text: `<a>${'&'.repeat(120_000)}</a>` },
  { reason: 'quotes', text: `<a b="${"'".repeat(120_000)}` },
])(
  'a long row of $reason takes no time',
  ({ text }) => {
    expect(readXml(text)).toBeUndefined();
  },
  5_000,
);
