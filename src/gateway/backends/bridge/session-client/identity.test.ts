import { expect, it } from 'vitest';
import { formatSessionId, isBridgeSession, readSessionId } from './identity.ts';

const IDENTITY = {
  revision: '2025-11-25',
  capabilities: { elicitation: { form: {} }, extensions: { 'com.example/x': { a: ['ä'] } } },
  clientInfo: { name: 'client', version: '1', title: 'Ä client' },
  nonce: 'n',
};

it('reads back the contents of a session id', () => {
  const id = formatSessionId(IDENTITY);
  expect(id).toMatch(/^[\x21-\x7e]+$/);
  expect(isBridgeSession(id)).toBe(true);
  expect(readSessionId(id)).toEqual(IDENTITY);
  expect(readSessionId(formatSessionId({ ...IDENTITY, clientInfo: undefined }))).toEqual({
    ...IDENTITY,
    clientInfo: undefined,
  });
});

it('leaves out members if the id is too long, but keeps the capabilities for questions', () => {
  const long = 'x'.repeat(5000);
  const icons = readSessionId(formatSessionId({ ...IDENTITY, clientInfo: { ...IDENTITY.clientInfo, icon: long } }));
  expect(icons).toMatchObject({ capabilities: IDENTITY.capabilities, clientInfo: { name: 'client', version: '1' } });
  const extended = { ...IDENTITY.capabilities, extensions: { a: long } };
  expect(readSessionId(formatSessionId({ ...IDENTITY, capabilities: extended }))?.capabilities).toEqual({
    elicitation: { form: {} },
  });
  const hostile = {
    elicitation: { form: { long }, url: {}, [long]: {} },
    sampling: { [long]: 1 },
    roots: {},
    [long]: {},
  };
  const id = formatSessionId({ ...IDENTITY, capabilities: hostile, clientInfo: { name: long, version: long } });
  expect(id.length).toBeLessThan(2500);
  expect(readSessionId(id)?.capabilities).toMatchObject({ elicitation: { form: {}, url: {} }, roots: {} });
});

it.each(['', 'bridge.', 'bridge.e30', 'bridge.W10', 'other', `bridge.${Buffer.from('["a"]').toString('base64url')}`])(
  'refuses the session id "%s"',
  (id) => {
    expect(readSessionId(id)).toBeUndefined();
  },
);
