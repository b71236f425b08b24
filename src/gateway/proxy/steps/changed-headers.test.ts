import assert from 'node:assert/strict';
import { expect, it } from 'vitest';
import { scanMessage } from '../../wire/scan.ts';
import { changedHeaders } from './changed-headers.ts';

function callOf(args: object, name = 'pay') {
  const body = Buffer.from(
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  );
  const scanned = scanMessage(body);
  assert(scanned.ok);
  return { body, message: scanned.message };
}

it.each<[string, object, object, string | undefined]>([
  ['changes with its argument', { card: '4111' }, { card: '***' }, '***'],
  ['is removed with its argument', { card: '4111' }, {}, undefined],
  [
    'is removed if two arguments had its value and one argument was changed',
    { a: '4111', b: '4111' },
    { a: '4111', b: '' },
    undefined,
  ],
  ['changes with a nested argument', { to: { card: 4111 } }, { to: { card: 1 } }, '1'],
  ['stays if its argument is unchanged', { card: '4111' }, { card: '4111', more: 1 }, '4111'],
  ['stays if no argument had its value', { card: '1' }, { card: '2' }, '4111'],
])('a header that repeats an argument %s', (_name, before, after, expected) => {
  const headers = changedHeaders({ 'mcp-param-card': '4111' }, callOf(before), callOf(after));
  expect(headers['mcp-param-card']).toBe(expected);
});

it('updates the header that repeats the tool name', () => {
  expect(changedHeaders({ 'mcp-name': 'pay' }, callOf({}), callOf({}, 'ask'))).toEqual({ 'mcp-name': 'ask' });
});
