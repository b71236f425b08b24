// Tests which fields are refused in a reference that may be a name or an object.

import { expect, test } from 'vitest';
import { MCPServer } from './mcpserver/index.ts';

test.each([
  [{ groupRef: 'team' }, []],
  [{ groupRef: { name: 'team' } }, []],
  [{ groupRef: { name: 'team', namespace: 'other' } }, ['/spec/groupRef/namespace']],
  [{ groupRef: { nmae: 'team' } }, ['/spec/groupRef/nmae']],
  [{ groupRef: { name: 'team', 'a/b': 1 } }, ['/spec/groupRef/a~1b']],
])('%j', (spec, pointers) => {
  expect(MCPServer.unread(spec).map(({ pointer }) => pointer)).toEqual(pointers);
});
