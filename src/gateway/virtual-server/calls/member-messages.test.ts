import { expect, test } from 'vitest';
import { showMessage } from './member-messages.ts';

const RELATED = 'io.modelcontextprotocol/related-task';

function shown(message: object): unknown {
  const passed = showMessage('wiki', Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })));
  return passed.kind === 'passes' ? JSON.parse(passed.bytes.toString()) : passed.kind;
}

test("adds the member's name to task ids in its notifications and requests", () => {
  const status = { method: 'notifications/tasks/status', params: { taskId: 't1', status: 'working' } };
  expect(shown(status)).toMatchObject({ params: { taskId: 'wiki t1', status: 'working' } });
  const question = { id: 7, method: 'elicitation/create', params: { _meta: { [RELATED]: { taskId: 't1' } } } };
  expect(shown(question)).toMatchObject({ id: 'wiki 7', params: { _meta: { [RELATED]: { taskId: 'wiki t1' } } } });
});

test('distinguishes notifications of changed lists from messages that pass', () => {
  expect(shown({ method: 'notifications/tools/list_changed' })).toBe('list-changed');
  expect(shown({ method: 'notifications/message', params: { data: 'x' } })).toMatchObject({ params: { data: 'x' } });
});
