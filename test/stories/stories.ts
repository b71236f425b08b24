// The twenty stories: what a client does with a server, outcome once for every client and every way to the server. Each
// gives back what happened, without what differs from run to run.

import { createHash } from 'node:crypto';
import { type Fields, fields, text } from '../conformance/fixture/json.ts';
import { CHANGING_STORIES } from './changing-stories.ts';
import { CONVERSATION_STORIES } from './conversation-stories.ts';
import { type Story, settle } from './story-client.ts';

/** In place of long content. */
export function digest(content: string): string {
  return `${content.length} ${createHash('sha256').update(content).digest('hex').slice(0, 16)}`;
}

function firstBlock(result: unknown): Fields {
  const { content } = fields(result);
  return Array.isArray(content) ? fields(content[0]) : {};
}

const PLAIN_STORIES: readonly Story[] = [
  {
    name: 'tools',
    run: async ({ connect }) => {
      const client = await connect();
      return {
        server: client.server(),
        list: await client.listTools(),
        simple: await client.callTool('test_simple_text'),
        mixed: await client.callTool('test_multiple_content_types', {}),
        schema: await client.callTool('json_schema_2020_12_tool', {
          name: 'Ä',
          email: 'a@b.c',
          contactMethod: 'email',
        }),
        header: await client.callTool('test_x_mcp_header', { region: ' grüße ', query: 'x' }),
        structured: await client.callTool('test_echo', { value: { deep: [1, 2.5, null, 'ä', { '': true }] } }),
      };
    },
  },
  {
    name: 'prompts',
    run: async ({ connect }) => {
      const client = await connect();
      return {
        list: await client.listPrompts(),
        simple: await client.getPrompt('test_simple_prompt'),
        args: await client.getPrompt('test_prompt_with_arguments', { arg1: 'héllo', arg2: "wo'rld" }),
        resource: await client.getPrompt('test_prompt_with_embedded_resource', { resourceUri: 'test://static-text' }),
        image: await client.getPrompt('test_prompt_with_image'),
      };
    },
  },
  {
    name: 'resources',
    run: async ({ connect }) => {
      const client = await connect();
      return {
        list: await client.listResources(),
        text: await client.readResource('test://static-text'),
        other: await client.readResource('test://non-ascii/ä%20ö'),
      };
    },
  },
  {
    name: 'templates',
    run: async ({ connect }) => {
      const client = await connect();
      return {
        list: await client.listTemplates(),
        read: await client.readResource('test://template/123/data'),
        escaped: await client.readResource('test://template/a%2Fb%20c/data'),
      };
    },
  },
  {
    name: 'completion',
    run: async ({ connect }) => {
      const client = await connect();
      const prompt = 'test_prompt_with_arguments';
      return {
        prompt: await client.complete({ prompt }, 'arg1', 'par'),
        none: await client.complete({ prompt }, 'arg1', 'zzz'),
        context: await client.complete({ prompt }, 'arg2', 'par', { arg1: 'paris' }),
        template: await client.complete({ template: 'test://template/{id}/data' }, 'id', 'te'),
        unknown: await settle(client.complete({ prompt: 'no_such_prompt' }, 'arg1', 'x')),
      };
    },
  },
  {
    name: 'pagination',
    run: async ({ connect }) => {
      const client = await connect();
      return {
        pages: await client.listResources(),
        templates: await client.listTemplates(),
        last: await client.resourcesAfter('after-6'),
        invalid: await settle(client.resourcesAfter('no such cursor')),
      };
    },
  },
  {
    name: 'errors',
    run: async ({ connect }) => {
      const client = await connect();
      return {
        tool: await settle(client.callTool('no_such_tool', {})),
        failed: await settle(client.callTool('test_error_handling', {})),
        internal: await settle(client.callTool('test_protocol_error', {})),
        prompt: await settle(client.getPrompt('no_such_prompt')),
        argument: await settle(client.getPrompt('test_prompt_with_arguments', { arg1: 'alone' })),
        resource: await settle(client.readResource('test://no-such-resource')),
        method: await settle(client.unknownMethod()),
        after: await client.callTool('test_simple_text'),
      };
    },
  },
  {
    name: 'large results',
    run: async ({ connect }) => {
      const client = await connect();
      const sizes = [1, 65_535, 65_536, 1_000_000, 8_000_000];
      const results: string[] = [];
      for (const size of sizes) {
        results.push(digest(text(firstBlock(await client.callTool('test_large_text', { size })).text)));
      }
      const echoed = await client.callTool('test_echo', { value: 'ü€🗼'.repeat(100_000) });
      return { results, echoed: digest(text(firstBlock(echoed).text)) };
    },
  },
  {
    name: 'binary',
    run: async ({ connect }) => {
      const client = await connect();
      return {
        image: await client.callTool('test_image_content'),
        audio: await client.callTool('test_audio_content'),
        resource: await client.readResource('test://static-binary'),
        bytes: await client.readResource('test://all-bytes'),
        many: digest(JSON.stringify(fields(await client.callTool('test_large_binary', { count: 5000 })).content)),
      };
    },
  },
  {
    name: 'reconnect',
    run: async ({ connect }) => {
      const first = await connect();
      const before = await first.callTool('test_echo', { value: 1 });
      await first.leave();
      const left = 'error' in (await settle(first.callTool('test_echo', { value: 2 })));
      const second = await connect();
      return { before, left, after: await second.callTool('test_echo', { value: 3 }), server: second.server() };
    },
  },
];

/** A process that several anonymous sessions share passes log messages to the first session alone (decision 0318). */
const LOGGING_FIRST = (a: Story, b: Story) => Number(b.name === 'logging') - Number(a.name === 'logging');

export const STORIES: readonly Story[] = [...PLAIN_STORIES, ...CHANGING_STORIES, ...CONVERSATION_STORIES].toSorted(
  LOGGING_FIRST,
);
