// Tests which caller may use an id of a task.

import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSessionSeal } from '../../wire/seal.ts';
import { createTaskIds } from './task-ids.ts';

const seal = createSessionSeal({ keys: [randomBytes(32)], random: randomBytes });
const ids = createTaskIds(seal, () => 0);
const TASK = { id: 't1', tool: 'chart', own: 'draw', policies: 'digest' };

test('only the caller that created a task opens its id', () => {
  const sealed = ids.seal(TASK, 'alice') ?? '';
  expect(ids.open(sealed, 'alice')).toEqual(TASK);
  expect(ids.open(sealed, 'bob')).toBeUndefined();
});

test('a session id does not open as a task id, and a task id does not open as a session id', () => {
  const session =
    seal.seal({ id: 's', issuedAt: 0, caller: 'alice', data: { tool: 'chart', own: 'draw', policies: '' } }) ?? '';
  expect(ids.open(session, 'alice')).toBeUndefined();
  expect(seal.open(ids.seal(TASK, 'alice') ?? '', 'alice')).toBeUndefined();
});

test('returns no client id for a server id that is too long for a header', () => {
  expect(ids.seal({ ...TASK, id: 'x'.repeat(5000) }, 'alice')).toBeUndefined();
});
