// Stories with public MCP servers, each over all that the server can do.

import { pathToFileURL } from 'node:url';
import { type Fields, fields } from '../conformance/fixture/json.ts';
import { digest } from './stories.ts';
import { REPLIES, type Story, settle } from './story-client.ts';

/** `@modelcontextprotocol/server-everything`. */
export const EVERYTHING_STORY: Story = {
  name: 'server-everything',
  run: async ({ connect }) => {
    const client = await connect();
    const call = (name: string, args: Record<string, unknown> = {}) => settle(client.callTool(name, args));
    return {
      server: client.server(),
      prompts: await client.listPrompts(),
      prompt: await settle(client.getPrompt('args-prompt', { city: 'Zürich', state: 'ZH' })),
      missing: 'error' in (await settle(client.getPrompt('args-prompt', {}))),
      completion: await client.complete({ prompt: 'completable-prompt' }, 'department', 'E'),
      templates: await client.listTemplates(),
      document: digest(JSON.stringify(await client.readResource('demo://resource/static/document/features.md'))),
      echo: await call('echo', { message: 'grüße 🗼' }),
      sum: await call('get-sum', { a: 1.5, b: 2 }),
      invalid: await call('get-sum', { a: 'x' }),
      annotated: await call('get-annotated-message', { messageType: 'error', includeImage: true }),
      image: digest(JSON.stringify(await call('get-tiny-image'))),
      links: await call('get-resource-links', { count: 2 }),
      structured: await call('get-structured-content', { location: 'Chicago' }),
      long: await settle(
        client.callTool('trigger-long-running-operation', { duration: 0.1, steps: 2 }, { progress: true }),
      ),
      sampling: await call('trigger-sampling-request', { prompt: 'hello', maxTokens: 10 }),
      elicitation: Object.keys(await call('trigger-elicitation-request')),
      unknown: await call('no-such-tool'),
    };
  },
};

/** `@modelcontextprotocol/server-filesystem`, with a folder of its own. */
export function filesystemStory(folder: string): Story {
  const file = `${folder}/grüße.txt`;
  return {
    name: 'server-filesystem',
    run: async ({ connect }) => {
      const client = await connect({ ...REPLIES, roots: [pathToFileURL(folder).href] });
      const call = async (name: string, args: Record<string, unknown>): Promise<Fields> => {
        const { content, isError } = fields(await client.callTool(name, args));
        return { content, isError };
      };
      return {
        tools: await client.listTools(),
        allowed: await call('list_allowed_directories', {}),
        write: await call('write_file', { path: file, content: 'one\ntwo\nthrée\n' }),
        read: await call('read_text_file', { path: file }),
        edit: await call('edit_file', { path: file, edits: [{ oldText: 'two', newText: '2' }] }),
        head: await call('read_text_file', { path: file, head: 2 }),
        list: await call('list_directory', { path: folder }),
        outside: await call('read_text_file', { path: '/etc/hostname' }),
      };
    },
  };
}

/** `@modelcontextprotocol/server-memory`, which keeps what it is given between sessions. */
export const MEMORY_STORY: Story = {
  name: 'server-memory',
  run: async ({ connect }) => {
    const first = await connect();
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs', 'grüßt'] }];
    const created = await first.callTool('create_entities', { entities });
    const second = await connect();
    const relations = [{ from: 'Ada', to: 'Ada', relationType: 'knows' }];
    return {
      created,
      related: await second.callTool('create_relations', { relations }),
      found: await first.callTool('search_nodes', { query: 'grüßt' }),
      graph: await second.callTool('read_graph'),
      deleted: await first.callTool('delete_entities', { entityNames: ['Ada'] }),
      empty: await second.callTool('read_graph'),
    };
  },
};
