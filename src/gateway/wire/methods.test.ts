// Compares the table of methods with the schemas of the official SDKs.

import { specTypeSchemas as sdk2 } from '@modelcontextprotocol/client';
import * as sdk1 from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { METHODS, methodFacts } from './methods.ts';

/** Returns the methods of all schemas in a union of schemas. */
function methodsOf(union: { readonly options: readonly object[] }): string[] {
  return union.options.map((schema) => {
    const { shape } = schema as { shape: { method: { value: string } } };
    return shape.method.value;
  });
}

function inTable(sender: 'client' | 'server', notification: boolean, era: 'session' | 'stateless'): string[] {
  return METHODS.filter((facts) => facts.sender === 'both' || facts.sender === sender)
    .filter((facts) => facts.notification === notification && facts.eras.includes(era))
    .filter(({ extension }) => extension === undefined)
    .map(({ method }) => method)
    .sort();
}

describe('the session era has the methods of SDK 1.x', () => {
  const rows = [
    ['client', false, sdk1.ClientRequestSchema],
    ['client', true, sdk1.ClientNotificationSchema],
    ['server', false, sdk1.ServerRequestSchema],
    ['server', true, sdk1.ServerNotificationSchema],
  ] as const;
  for (const [sender, notification, union] of rows) {
    test(`that a ${sender} sends as ${notification ? 'notifications' : 'requests'}`, () => {
      expect(inTable(sender, notification, 'session')).toEqual(methodsOf(union).sort());
    });
  }
});

test('SDK 2.x knows no method that the table does not have', () => {
  const names = ['ClientRequest', 'ClientNotification', 'ServerRequest', 'ServerNotification'] as const;
  const methods = names.flatMap((name) => methodsOf(sdk2[name] as object as { options: object[] }));
  expect(methods.length).toBeGreaterThan(30);
  expect(methods.filter((method) => methodFacts(method) === undefined)).toEqual([]);
});

test('the stateless era has the methods of 2026-07-28 and of its extension for tasks', () => {
  expect(inTable('client', false, 'stateless')).toEqual([
    'completion/complete',
    'prompts/get',
    'prompts/list',
    'resources/list',
    'resources/read',
    'resources/templates/list',
    'server/discover',
    'subscriptions/listen',
    'tasks/cancel',
    'tasks/get',
    'tasks/update',
    'tools/call',
    'tools/list',
  ]);
  expect(inTable('server', true, 'stateless')).toEqual([
    'notifications/cancelled',
    'notifications/message',
    'notifications/progress',
    'notifications/prompts/list_changed',
    'notifications/resources/list_changed',
    'notifications/resources/updated',
    'notifications/subscriptions/acknowledged',
    'notifications/tasks',
    'notifications/tools/list_changed',
  ]);
});

test('each list names the key of its array, and each call its target', () => {
  for (const { method, kind, resultKey, target, nameHeader } of METHODS) {
    expect(resultKey !== undefined, method).toBe(kind === 'list');
    if (kind === 'call') expect(target, method).toBeDefined();
    if (nameHeader) expect(target, method).toBeDefined();
  }
});

test('methodFacts finds no method in another case, and no member of Object.prototype', () => {
  for (const method of ['Tools/Call', 'tools/call ', '', 'constructor', '__proto__', 'toString']) {
    expect(methodFacts(method), method).toBeUndefined();
  }
});
