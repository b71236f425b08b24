// Stories about what servers say unasked: updates, lists that change, progress, logs, and streams that break.

import { type Fields, fields, text } from '../conformance/fixture/json.ts';
import type { Story, StoryClient } from './story-client.ts';

const UPDATED = 'notifications/resources/updated';
const WATCHED = 'test://watched-resource';

/** As the messages say it: the clients lose a step that comes in one chunk with the result. */
export function progressOf({ messages }: StoryClient): readonly Fields[] {
  return messages
    .filter(({ method }) => method === 'notifications/progress')
    .map(({ params }) => ({ progress: fields(params).progress, total: fields(params).total }));
}

async function names(list: Promise<unknown>, key: string): Promise<readonly string[]> {
  const got = await list;
  const pages = Array.isArray(got) ? got.flat() : fields(got)[key];
  return (Array.isArray(pages) ? pages : [])
    .map((item) => text(fields(item).name))
    .filter((name) => /dynamic/.test(name));
}

async function dynamicNames(client: StoryClient): Promise<Fields> {
  return {
    tools: await names(client.listTools(), 'tools'),
    prompts: await names(client.listPrompts(), 'prompts'),
    resources: await names(client.listResources(), 'resources'),
  };
}

const CHANGES = [
  ['test_trigger_tool_change', 'notifications/tools/list_changed'],
  ['test_trigger_prompt_change', 'notifications/prompts/list_changed'],
  ['test_trigger_resource_change', 'notifications/resources/list_changed'],
] as const;

export const CHANGING_STORIES: readonly Story[] = [
  {
    name: 'subscriptions',
    run: async ({ connect }) => {
      const client = await connect();
      const end = await client.watch({ uris: [WATCHED] });
      await client.callTool('test_touch_resource', { uri: 'test://static-text' });
      await client.callTool('test_touch_resource', { uri: WATCHED });
      const [first] = await client.heard(UPDATED, 1);
      await client.callTool('test_touch_resource', { uri: WATCHED });
      await client.heard(UPDATED, 2);
      await end();
      // Two changes of the list come after the touch that no one hears of: once they are there, it would be too.
      const endLists = await client.watch({ lists: ['resources'] });
      await client.callTool('test_touch_resource', { uri: WATCHED });
      await client.callTool('test_trigger_resource_change');
      await client.callTool('test_trigger_resource_change');
      await client.heard('notifications/resources/list_changed', 2);
      await endLists();
      const updates = client.messages.filter(({ method }) => method === UPDATED);
      return { uri: fields(first?.params).uri, updates: updates.length };
    },
  },
  {
    name: 'list_changed',
    run: async ({ connect }) => {
      const client = await connect();
      const end = await client.watch({ lists: ['tools', 'prompts', 'resources'] });
      const before = await dynamicNames(client);
      for (const [tool, method] of CHANGES) {
        await client.callTool(tool);
        await client.heard(method, 1);
      }
      const during = await dynamicNames(client);
      const called = await client.callTool('test_dynamic_tool');
      for (const [tool, method] of CHANGES) {
        await client.callTool(tool);
        await client.heard(method, 2);
      }
      const after = await dynamicNames(client);
      await end();
      return { before, during, called, after };
    },
  },
  {
    name: 'progress',
    run: async ({ connect }) => {
      const client = await connect();
      const result = await client.callTool('test_tool_with_progress', {}, { progress: true });
      const progress = progressOf(client);
      const quiet = await client.callTool('test_tool_with_progress', {});
      return { progress, result, quiet, afterwards: progressOf(client).length };
    },
  },
  {
    name: 'logging',
    run: async ({ connect }) => {
      const client = await connect();
      const logged = () => client.messages.filter(({ method }) => method === 'notifications/message').length;
      await client.logFrom('info');
      const result = await client.callTool('test_tool_with_logging');
      const heard = await client.heard('notifications/message', 3);
      await client.logFrom('error');
      const quiet = await client.callTool('test_tool_with_logging');
      return { result, logs: heard.map(({ params }) => params), quiet, logged: logged() };
    },
  },
  {
    name: 'cancel',
    run: async ({ connect }) => {
      const client = await connect();
      const abort = new AbortController();
      const label = 'cancelled by its client';
      const waiting = client.callTool('test_wait', { label }, { signal: abort.signal }).then(
        () => 'answered',
        () => 'ended without an answer',
      );
      const running = await client.callTool('test_wait_state', { label, state: 'running' });
      abort.abort();
      const ended = await waiting;
      const cancelled = await client.callTool('test_wait_state', { label, state: 'cancelled' });
      return { running, ended, cancelled, after: await client.callTool('test_simple_text') };
    },
  },
  {
    name: 'resumption',
    run: async ({ connect }) => {
      const client = await connect();
      const first = await client.callTool('test_reconnection');
      const twice = await Promise.all([client.callTool('test_reconnection'), client.callTool('test_reconnection')]);
      return { first, twice };
    },
  },
];
