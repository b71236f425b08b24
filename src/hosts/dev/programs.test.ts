// Tests which program replaces an image whose name has a digest in addition to its tag.

import { expect, test } from 'vitest';
import { findPrograms } from './programs.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const RULES = [
  { image: `notes:1@${DIGEST.replace('a', 'b')}`, command: ['other'] },
  { image: 'notes:1', command: ['notes'] },
  { image: 'example.com/search:*', command: ['search'] },
];

const find = findPrograms({
  ...{ origin: 'http://127.0.0.1:1', kubeconfig: '/nothing/is/here', apiGroup: 'skep.example' },
  self: ['node', 'skep'],
  ownImages: [],
  rules: RULES,
  packages: { find: ({ image }) => ({ absent: `no package for ${image}` }) },
});

test.each([
  ['notes:1', 'notes'],
  [`notes:1@${DIGEST}`, 'notes'],
  [`notes:1@${DIGEST.replace('a', 'b')}`, 'other'],
  [`example.com/search:2@${DIGEST}`, 'search'],
  [`notes:2@${DIGEST}`, undefined],
  [`notes@${DIGEST}`, undefined],
])('%s is %s', (image, program) => {
  const found = find({ name: 'mcp', image }, { containers: [] }, []);
  const expected = program === undefined ? { absent: `no package for ${image}` } : { command: [program] };
  expect(found).toEqual(expected);
});
