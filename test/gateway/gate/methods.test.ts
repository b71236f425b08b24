// Tests with scanned messages which messages pass without policies, which ones policies decide, and which are refused.

import { describe, expect, it, test } from 'vitest';
import { decideMessage } from '#gateway/gate/policy/methods.ts';
import { METHODS } from '#gateway/wire/methods.ts';
import { scanMessage } from '#gateway/wire/scan.ts';
import type { JsonObject } from '#std/json.ts';
import { outcome, policiesOf } from './policies.ts';

const POLICIES = policiesOf([
  'permit(principal, action == Action::"call_tool", resource == Tool::"weather");',
  'permit(principal, action == Action::"get_prompt", resource == Prompt::"hello");',
  'permit(principal, action == Action::"read_resource", resource) when { resource.uri like "file:///open/*" };',
]);

function decided(body: string, policies = POLICIES): string {
  const bytes = Buffer.from(body);
  const scanned = scanMessage(bytes);
  if (!scanned.ok) return `scan: ${scanned.fault.code}`;
  const { message } = scanned;
  return outcome(decideMessage(policies, { body: bytes, message, claims: { sub: 'alice' }, hintsOf: () => undefined }));
}

function request(method: string, params: JsonObject = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

const listen = (notifications: unknown) => request('subscriptions/listen', { notifications } as JsonObject);
const complete = (ref: JsonObject) => request('completion/complete', { ref, argument: { name: 'a', value: '' } });

describe('requests', () => {
  test.each<readonly [reason: string, body: string, expected: string]>([
    ['a tool that is permitted', request('tools/call', { name: 'weather' }), 'allowed'],
    ['another tool', request('tools/call', { name: 'drop' }), 'policy-denied'],
    ['a prompt that is permitted', request('prompts/get', { name: 'hello' }), 'allowed'],
    ['another prompt', request('prompts/get', { name: 'x' }), 'policy-denied'],
    ['a resource that is permitted', request('resources/read', { uri: 'file:///open/a' }), 'allowed'],
    ['another resource', request('resources/read', { uri: 'file:///etc' }), 'policy-denied'],
    ['subscribing to it', request('resources/subscribe', { uri: 'file:///open/a' }), 'allowed'],
    ['subscribing to another', request('resources/subscribe', { uri: 'file:///etc' }), 'policy-denied'],
    ['the end of a subscription', request('resources/unsubscribe', { uri: 'file:///etc' }), 'policy-denied'],
    ['completion for its prompt', complete({ type: 'ref/prompt', name: 'hello' }), 'allowed'],
    ['completion for another prompt', complete({ type: 'ref/prompt', name: 'x' }), 'policy-denied'],
    ['completion for its template', complete({ type: 'ref/resource', uri: 'file:///open/{name}' }), 'allowed'],
    ['completion for another template', complete({ type: 'ref/resource', uri: 'file:///{name}' }), 'policy-denied'],
    [
      'completion by a prompt for a resource',
      complete({ type: 'ref/prompt', name: 'x', uri: 'file:///open/a' }),
      'policy-denied',
    ],
    ['a skill of its resources', request('skills/get', { uri: 'file:///open/a/SKILL.md' }), 'allowed'],
    ['another skill', request('skills/get', { uri: 'file:///etc/SKILL.md' }), 'policy-denied'],
    ['a skill without a URI', request('skills/get'), 'scan: -32602'],
    ['a folder of its resources', request('resources/directory/read', { uri: 'file:///open/a' }), 'allowed'],
    ['another folder', request('resources/directory/read', { uri: 'file:///etc' }), 'policy-denied'],
    ['listening to lists', listen({ toolsListChanged: true }), 'allowed'],
    ['listening to its resources', listen({ resourceSubscriptions: ['file:///open/a'] }), 'allowed'],
    [
      'listening to one of others',
      listen({ resourceSubscriptions: ['file:///open/a', 'file:///etc'] }),
      'policy-denied',
    ],
    ['a subscription without a list', listen({ resourceSubscriptions: 'file:///etc' }), 'policy-method-unknown'],
    ['listening to no texts', listen({ resourceSubscriptions: [['file:///etc']] }), 'policy-method-unknown'],
    [
      'listening to two filters',
      '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":[]},"notifications":{"resourceSubscriptions":["file:///etc"]}}}',
      'scan: -32600',
    ],
    [
      'listening to two lists',
      '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["file:///etc"],"resourceSubscriptions":[]}}}',
      'policy-method-unknown',
    ],
    [
      'listening in another case',
      listen({ resourceSubscriptions: [], ResourceSubscriptions: ['file:///etc'] }),
      'policy-method-unknown',
    ],
    ['a method in another case', request('Tools/Call', { name: 'weather' }), 'policy-method-unknown'],
    ['an unknown method', request('tools/run', { name: 'weather' }), 'policy-method-unknown'],
    ['a method of an object', request('constructor'), 'policy-method-unknown'],
    ['a task', request('tasks/result', { taskId: 'a' }), 'policy-method-unknown'],
    ['all tasks', request('tasks/list'), 'policy-method-unknown'],
    ['a request of a server', request('sampling/createMessage'), 'policy-method-unknown'],
    ['a notification with an id', request('notifications/cancelled', { requestId: 1 }), 'scan: -32600'],
  ])('%s', (_reason, body, expected) => {
    expect(decided(body)).toBe(expected);
  });

  test.each([
    'initialize',
    'ping',
    'logging/setLevel',
    'roots/list',
    'server/discover',
    'tools/list',
    'prompts/list',
    'resources/list',
    'resources/templates/list',
    'skills/list',
  ])('%s always passes', (method) => {
    expect(decided(request(method))).toBe('allowed');
  });

  it('decides or refuses every method of every revision, except the methods that always pass', () => {
    const nothing = policiesOf(['forbid(principal, action, resource);']);
    const params = {
      name: 'x',
      uri: 'x',
      taskId: 'x',
      ref: { type: 'ref/prompt', name: 'x' },
      notifications: { resourceSubscriptions: ['x'] },
    };
    const passing = METHODS.filter(({ notification }) => !notification).filter(
      ({ method }) => decided(request(method, params), nothing) === 'allowed',
    );
    expect(passing.map(({ method }) => method)).toEqual([
      'initialize',
      'ping',
      'server/discover',
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
      'logging/setLevel',
      'roots/list',
      'skills/list',
    ]);
  });
});

describe('a method of an extension', () => {
  const named = ['permit(principal, action == Action::"extension", resource == Method::"com.example/run");'];
  const wide = ['permit(principal, action, resource);'];
  const any = ['permit(principal, action == Action::"extension", resource);'];

  test.each<readonly [reason: string, method: string, policies: readonly string[], expected: string]>([
    ['that a policy names', 'com.example/run', named, 'allowed'],
    ['that no policy names', 'com.example/stop', named, 'policy-method-unknown'],
    ['that a policy permits with all others', 'com.example/stop', any, 'allowed'],
    [
      'that is forbidden by name',
      'a/b',
      [...any, 'forbid(principal, action, resource == Method::"a/b");'],
      'policy-method-unknown',
    ],
    ['if everything but extensions is named', 'com.example/run', wide, 'policy-method-unknown'],
    ['in a namespace of the protocol', 'tools/run', any, 'policy-method-unknown'],
    ['that differs from one of the protocol in letter case', 'Tools/Call', any, 'policy-method-unknown'],
    ['with a space', 'tools /call', any, 'policy-method-unknown'],
    ['without a namespace', 'run', any, 'policy-method-unknown'],
    ['with two slashes', 'a//b', any, 'policy-method-unknown'],
    ['all tasks', 'tasks/list', any, 'policy-method-unknown'],
  ])('%s', (_reason, method, policies, expected) => {
    expect(decided(request(method), policiesOf(policies))).toBe(expected);
  });

  it('is not included in general permits', () => {
    const call = request('tools/call', { name: 'x' });
    expect(decided(call, policiesOf(any))).toBe('policy-denied');
  });
});

describe('other messages', () => {
  const note = (method: string) =>
    JSON.stringify({ jsonrpc: '2.0', method, params: { name: 'drop', uri: 'x', requestId: 1, progressToken: 1 } });

  test.each<readonly [reason: string, body: string, expected: string]>([
    ['a notification passes', note('notifications/cancelled'), 'allowed'],
    ['an unknown notification passes', note('notifications/strange'), 'allowed'],
    ['a call without an id is not a notification', note('tools/call'), 'scan: -32600'],
    ['an unknown method without an id is refused', note('tools/run'), 'policy-method-unknown'],
    ['an answer passes', '{"jsonrpc":"2.0","id":1,"result":{}}', 'allowed'],
    ['a batch is not a message', `[${request('tools/call', { name: 'drop' })}]`, 'scan: -32600'],
    [
      'a name twice is no message',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather","name":"drop"}}',
      'scan: -32600',
    ],
    [
      'a name in another case is no message',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather","NAME":"drop"}}',
      'scan: -32600',
    ],
  ])('%s', (_reason, body, expected) => {
    expect(decided(body)).toBe(expected);
  });
});

describe('arguments', () => {
  it('of a resource do not exist, for any params', () => {
    const read = policiesOf(['permit(principal, action, resource) when { context has arg_n };']);
    expect(decided(request('resources/read', { uri: 'x', arguments: { n: 1 } }), read)).toBe('policy-denied');
    expect(decided(request('prompts/get', { name: 'x', arguments: { n: 1 } }), read)).toBe('allowed');
  });

  const limited = policiesOf([
    'permit(principal, action == Action::"call_tool", resource) when { context.arg_n < 10 };',
  ]);

  test.each<readonly [reason: string, args: string, expected: string]>([
    ['are read', '{"n": 9}', 'allowed'],
    ['forbid', '{"n": 10}', 'policy-denied'],
    ['may not come twice', '{"n": 9, "n": 10}', 'policy-arguments-ambiguous'],
    ['may not come in another case', '{"n": 9, "N": 10}', 'policy-arguments-ambiguous'],
    ['may not come with an escaped key twice', '{"n": 9, "\\u006e": 10}', 'policy-arguments-ambiguous'],
    ['may be null', 'null', 'policy-error'],
  ])('%s', (_reason, args, expected) => {
    expect(
      decided(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${args}}}`, limited),
    ).toBe(expected);
  });

  it('are decided with the hints that clients see', () => {
    const body = Buffer.from(request('tools/call', { name: 'x' }));
    const scanned = scanMessage(body);
    if (!scanned.ok) throw new Error(scanned.fault.message);
    const policies = policiesOf(['permit(principal, action, resource) when { resource.readOnlyHint };']);
    const call = { body, message: scanned.message, claims: { sub: 'alice' } };
    const hints = new Map([['x', { readOnlyHint: true }]]);
    expect(outcome(decideMessage(policies, { ...call, hintsOf: (name) => hints.get(name) }))).toBe('allowed');
    expect(outcome(decideMessage(policies, { ...call, hintsOf: () => ({}) }))).toBe('policy-error');
    expect(outcome(decideMessage(policies, { ...call, hintsOf: () => undefined }))).toBe('policy-hints-unknown');
  });
});
