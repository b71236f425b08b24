// Tests headers from the configuration: injected headers, bearer tokens and forwarded headers. Also tests the removal
// of the caller's token.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bearerToken } from '#gateway/credentials/bearer.ts';
import type { Credential, CredentialCaller, OutgoingRequest } from '#gateway/credentials/credential.ts';
import { headerForward } from '#gateway/credentials/forward.ts';
import { headerInjection } from '#gateway/credentials/header.ts';
import { removeCallerToken } from '#gateway/credentials/remove.ts';
import { ANONYMOUS, outgoing, startWorld, type World } from './world.ts';

const ENVIRONMENT = {
  VALUE: 'secret value',
  LINE_END: ' padded \n',
  SPLIT: 'a\r\nX-Admin: 1',
  LINE_FEED: 'a\nb',
  NUL: 'a\0b',
  EMPTY: ' \n',
  UNICODE: 'schlüssel €',
  TOKEN: 'tok.en-1',
  SPACED: 'two words',
  TOOLHIVE_SECRET_KEY_ID: 'from a variable',
};

let world: World;
beforeEach(() => {
  world = startWorld(ENVIRONMENT);
});
afterEach(() => world.close());

/** Returns the headers of a credential that needs no asynchronous work. */
function headersOf(
  credential: Credential,
  request: OutgoingRequest = outgoing(),
  caller: CredentialCaller = ANONYMOUS,
) {
  const given = credential(request, caller);
  if (given instanceof Promise || !given.ok) throw new Error('headers were expected');
  return given.headers;
}

describe('header injection', () => {
  it('replaces the header of the caller, and keeps other headers', () => {
    const credential = headerInjection(world.ports, { header_name: 'X-Api-Key', value_env_var: 'VALUE' });
    const request = outgoing({ 'x-api-key': 'mine', authorization: 'Bearer caller' });
    expect(headersOf(credential, request)).toEqual({ ...request.headers, 'x-api-key': 'secret value' });
  });

  it('uses a rotated file at the next request, and the last valid value if the file is invalid', () => {
    const file = world.write('value', 'first\n');
    const credential = headerInjection(world.ports, {
      header_name: 'X-Api-Key',
      value_file: file,
      value_env_var: 'VALUE',
    });
    const now = () => headersOf(credential)['x-api-key'];
    expect(now()).toBe('first');
    world.write('value', 'second\n');
    expect(now()).toBe('second');
    world.write('value', 'bad\r\nX-Admin: 1');
    expect([now(), now()]).toEqual(['second', 'second']);
    world.remove(file);
    expect([now(), now()]).toEqual(['second', 'second']);
    world.write('value', 'third');
    expect(now()).toBe('third');
    expect(world.notices.map(({ code }) => code)).toEqual(['credential-secret-stale', 'credential-secret-stale']);
    expect(JSON.stringify(world.notices)).not.toContain('Admin');
  });

  it.each([
    { variable: 'LINE_END', expected: 'padded', reason: 'surrounding white space is removed' },
    {
      variable: 'UNICODE',
      expected: Buffer.from('schlüssel €', 'utf8').toString('latin1'),
      reason: 'it is sent as UTF-8',
    },
  ])('the value of $variable is accepted: $reason', ({ variable, expected }) => {
    const credential = headerInjection(world.ports, { header_name: 'X-Api-Key', value_env_var: variable });
    expect(headersOf(credential)['x-api-key']).toBe(expected);
  });

  it.each(['SPLIT', 'LINE_FEED', 'NUL', 'EMPTY'])('the value of %s is refused at start', (variable) => {
    const block = { header_name: 'X-Api-Key', value_env_var: variable };
    expect(() => headerInjection(world.ports, block)).toThrow(
      expect.objectContaining({ code: 'credential-secret-invalid', message: expect.not.stringContaining('Admin') }),
    );
  });

  it.each([
    { block: { value_env_var: 'UNSET' }, code: 'credential-secret-missing' },
    { block: { value_file: '/nowhere/value' }, code: 'credential-secret-missing' },
    { block: {}, code: 'credential-config-invalid' },
  ])('a missing secret prevents the start: $block', ({ block, code }) => {
    const start = () => headerInjection(world.ports, { header_name: 'X-Api-Key', ...block });
    expect(start).toThrow(expect.objectContaining({ code }));
  });
});

const RESTRICTED = [
  ...[
    'Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Proxy-Authorization',
    'Proxy-Connection',
  ],
  ...['Host', 'Content-Length', 'HTTP2-Settings', 'Forwarded', 'X-Forwarded-For', 'X-Forwarded-Anything', 'X-Real-Ip'],
  ...['', 'X Key', 'X-Key:', 'X-Key\r\nX-Admin', 'Schlüssel'],
];

describe.each(RESTRICTED)('the header name %j', (name) => {
  it('is refused in all settings with a header name', () => {
    const refusal = expect.objectContaining({ code: 'credential-config-invalid' });
    expect(() => headerInjection(world.ports, { header_name: name, value_env_var: 'VALUE' })).toThrow(refusal);
    expect(() => headerForward(world.ports, { add_plaintext_headers: { [name]: 'x' } })).toThrow(refusal);
    expect(() => headerForward(world.ports, { add_headers_from_secret: { [name]: 'KEY_ID' } })).toThrow(refusal);
    expect(() => headerForward(world.ports, { add_headers_from_file: { [name]: '/x' } })).toThrow(refusal);
  });
});

describe('a bearer token', () => {
  it('replaces the Authorization header of the caller', () => {
    const credential = bearerToken(world.ports, { token_env_var: 'TOKEN' });
    expect(headersOf(credential, outgoing({ authorization: 'Bearer caller' })).authorization).toBe('Bearer tok.en-1');
  });

  it('uses a rotated file at the next request', () => {
    const credential = bearerToken(world.ports, { token_file: world.write('token', 'one') });
    expect(headersOf(credential).authorization).toBe('Bearer one');
    world.write('token', 'two\n');
    expect(headersOf(credential).authorization).toBe('Bearer two');
  });

  it.each(['SPACED', 'SPLIT', 'UNICODE', 'EMPTY'])('that is %s is refused at start', (variable) => {
    const start = () => bearerToken(world.ports, { token_env_var: variable });
    expect(start).toThrow(expect.objectContaining({ code: 'credential-secret-invalid' }));
  });
});

describe('forwarded headers', () => {
  it('override headers of the request; secrets override plain values in any case; files override variables', () => {
    const credential = headerForward(world.ports, {
      add_plaintext_headers: { 'X-Plain': 'plain', 'X-KEY': 'plain', 'X-File': 'plain', 'X-Empty': '' },
      add_headers_from_secret: { 'X-Key': 'KEY_ID', 'X-File': 'UNSET_BUT_IN_A_FILE' },
      add_headers_from_file: { 'x-file': world.write('file', 'from a file\n') },
    });
    const request = outgoing({ 'x-plain': 'caller', 'x-key': 'caller', 'x-other': 'caller' });
    expect(headersOf(credential, request)).toEqual({
      'content-type': 'application/json',
      'x-plain': 'plain',
      'x-key': 'from a variable',
      'x-file': 'from a file',
      'x-empty': '',
      'x-other': 'caller',
    });
  });

  it('from files are read again at the next request after a change', () => {
    const file = world.write('file', 'first');
    const credential = headerForward(world.ports, { add_headers_from_file: { 'X-Key': file } });
    expect(headersOf(credential)['x-key']).toBe('first');
    world.write('file', 'second');
    expect(headersOf(credential)['x-key']).toBe('second');
  });

  it.each<{ reason: string; block: Parameters<typeof headerForward>[1] }>([
    { reason: 'a line end in a value', block: { add_plaintext_headers: { 'X-Key': 'a\r\nX-Admin: 1' } } },
    { reason: 'a duplicate name', block: { add_plaintext_headers: { 'X-Key': 'a', 'x-key': 'b' } } },
    { reason: 'a variable that is unset', block: { add_headers_from_secret: { 'X-Key': 'UNSET' } } },
    { reason: 'a missing file', block: { add_headers_from_file: { 'X-Key': '/nowhere/file' } } },
  ])('with $reason are refused at start', ({ block }) => {
    expect(() => headerForward(world.ports, block)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^credential-(config-invalid|secret-missing)$/) }),
    );
  });
});

it('the token of the caller is removed completely, and all other headers stay', () => {
  expect(headersOf(removeCallerToken, outgoing({ authorization: 'Bearer caller', cookie: 'a=b' }))).toEqual({
    'content-type': 'application/json',
    cookie: 'a=b',
  });
});
