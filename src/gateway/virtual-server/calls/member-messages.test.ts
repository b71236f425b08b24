import { expect, test } from 'vitest';
import { showMessage } from './member-messages.ts';

const RELATED = 'io.modelcontextprotocol/related-task';

function shown(message: object): unknown {
  const passed = showMessage('wiki', Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })));
  return passed.kind === 'passes' ? JSON.parse(passed.bytes.toString()) : passed.kind;
}

test('messages about tasks of a member name them as its results do', () => {
  const status = { method: 'notifications/tasks/status', params: { taskId: 't1', status: 'working' } };
  expect(shown(status)).toMatchObject({ params: { taskId: 'wiki t1', status: 'working' } });
  const question = { id: 7, method: 'elicitation/create', params: { _meta: { [RELATED]: { taskId: 't1' } } } };
  expect(shown(question)).toMatchObject({ id: 'wiki 7', params: { _meta: { [RELATED]: { taskId: 'wiki t1' } } } });
});

test('notifications of a member about changed lists are distinguished from messages that pass', () => {
  expect(shown({ method: 'notifications/tools/list_changed' })).toBe('list-changed');
  expect(shown({ method: 'notifications/message', params: { data: 'x' } })).toMatchObject({ params: { data: 'x' } });
});
