import { expect, it } from 'vitest';
import { scanMessage } from '../../../wire/scan.ts';
import { createReply } from '../reply.ts';
import { createOutlet } from './outlet.ts';

function notification(method: string, uri?: string) {
  const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: `notifications/${method}`, params: { uri } }));
  const scanned = scanMessage(bytes);
  if (!scanned.ok || scanned.message.kind !== 'notification') throw new Error('no notification');
  return [bytes, scanned.message] as const;
}

/** Returns a client that reads slowly while `state.takes` is false. */
function slowClient() {
  const events: string[] = [];
  const state = { takes: true };
  const reply = createReply({
    head: () => undefined,
    data(chunk) {
      const { method, params } = JSON.parse(/^data: (.*)$/m.exec(chunk.toString())?.[1] ?? '{}');
      events.push([method.replace('notifications/', ''), params.uri].filter(Boolean).join(' '));
      return state.takes;
    },
    end: () => undefined,
    fail: () => undefined,
  });
  return { events, reply, state };
}

it('sends earlier messages after the acknowledgement if the filter includes them', () => {
  const { events, reply } = slowClient();
  const outlet = createOutlet(reply, '1');
  for (const method of ['tools/list_changed', 'prompts/list_changed']) outlet.notify(...notification(method));
  expect(events).toEqual([]);
  outlet.begin({ methods: new Set(['notifications/tools/list_changed']), uris: [] });
  expect(events).toEqual(['subscriptions/acknowledged', 'tools/list_changed']);
});

it('remembers each change once while the client reads slowly', () => {
  const { events, reply, state } = slowClient();
  const outlet = createOutlet(reply, '1');
  outlet.begin({ methods: new Set(['notifications/tools/list_changed']), uris: ['a:b', 'a:c'] });
  state.takes = false;
  for (let round = 0; round < 100; round += 1) {
    outlet.notify(...notification('tools/list_changed'));
    for (const uri of ['a:b', 'a:c', 'a:d']) outlet.notify(...notification('resources/updated', uri));
  }
  expect(events).toEqual(['subscriptions/acknowledged', 'tools/list_changed']);
  state.takes = true;
  outlet.resume();
  expect(events.slice(2)).toEqual(['resources/updated a:b', 'resources/updated a:c', 'tools/list_changed']);
});
