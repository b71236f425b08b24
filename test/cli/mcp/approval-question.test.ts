// Tests the question before an approval: it names every object, and a list that is too long leads to no question.

import { expect, test } from 'vitest';
import { approvalQuestion } from '../../../src/cli/mcp/tools/approve.ts';

function waitingList(count: number, takes = ['docs/Secret/mine']) {
  const deletions = Array.from({ length: count }, (_, index) => ({
    ...{ id: `docs/MCPServer/server-${index}`, kind: 'MCPServer', uid: `uid-${index}` },
    ...(index === 0 ? { takes } : {}),
  }));
  return { source: 'fleet', hash: '0123456789abcdef', reasons: ['too many'], deletions };
}

test('a question names every object, and a list that nobody reads is not asked about', () => {
  const { message, command } = approvalQuestion('prod', waitingList(99), 'skep approve 0123456789abcdef');
  expect(message.match(/^- /gm)).toHaveLength(99);
  expect(message).toContain('- docs/MCPServer/server-0\n  also deletes docs/Secret/mine\n');
  expect(command).toBe('skep approve 0123456789abcdef');
  const long = Array.from({ length: 99 }, (_, index) => `docs/ConfigMap/${'c'.repeat(200)}${index}`);
  const whole = approvalQuestion('prod', waitingList(1, long), command).message;
  for (const each of long) expect(whole).toContain(each);
  const longer = [...long, 'docs/ConfigMap/last'];
  for (const list of [waitingList(0), waitingList(101), waitingList(1, longer)]) {
    expect(() => approvalQuestion('prod', list, command)).toThrow(
      expect.objectContaining({ code: 'mcp-confirmation-too-long', data: { command } }),
    );
  }
});
