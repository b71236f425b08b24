// The rules of two chats about what is posted to them, in our own words: bodies that break one are refused, and what people would
// read is returned. Sources: docs.slack.dev ("Formatting message text", "Section block"), adaptivecards.io (1.4: RichTextBlock,
// TextRun), learn.microsoft.com ("Create incoming webhooks with Workflows").

import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

const TEXT = { type: 'string', minLength: 1 };

const SLACK = {
  type: 'object',
  required: ['text', 'blocks'],
  additionalProperties: false,
  properties: {
    text: { ...TEXT, maxLength: 4000 },
    unfurl_links: { type: 'boolean' },
    unfurl_media: { type: 'boolean' },
    blocks: {
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: {
        type: 'object',
        required: ['type', 'text'],
        additionalProperties: false,
        properties: {
          type: { const: 'section' },
          text: {
            type: 'object',
            required: ['type', 'text'],
            additionalProperties: false,
            properties: { type: { const: 'mrkdwn' }, text: { ...TEXT, maxLength: 3000 } },
          },
        },
      },
    },
  },
};

const OPEN_URL = {
  type: 'object',
  required: ['type', 'url'],
  additionalProperties: false,
  properties: { type: { const: 'Action.OpenUrl' }, title: TEXT, url: { type: 'string', pattern: '^https?://' } },
};

const CARD = {
  type: 'object',
  required: ['type', 'version', 'body'],
  additionalProperties: false,
  properties: {
    $schema: { const: 'http://adaptivecards.io/schemas/adaptive-card.json' },
    type: { const: 'AdaptiveCard' },
    version: { enum: ['1.2', '1.3', '1.4'] },
    msteams: { type: 'object', properties: { width: { const: 'Full' } } },
    actions: { type: 'array', items: OPEN_URL },
    body: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['type', 'inlines'],
        additionalProperties: false,
        properties: {
          type: { const: 'RichTextBlock' },
          spacing: { enum: ['None', 'Small', 'Default', 'Medium', 'Large'] },
          inlines: {
            type: 'array',
            minItems: 1,
            items: {
              type: 'object',
              required: ['type', 'text'],
              additionalProperties: false,
              properties: {
                type: { const: 'TextRun' },
                text: TEXT,
                weight: { enum: ['Lighter', 'Default', 'Bolder'] },
                size: { enum: ['Small', 'Default', 'Medium', 'Large'] },
                color: { enum: ['Default', 'Good', 'Warning', 'Attention'] },
                fontType: { enum: ['Default', 'Monospace'] },
                selectAction: OPEN_URL,
              },
            },
          },
        },
      },
    },
  },
};

const TEAMS = {
  type: 'object',
  required: ['type', 'attachments'],
  additionalProperties: false,
  properties: {
    type: { const: 'message' },
    attachments: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
        type: 'object',
        required: ['contentType', 'content'],
        additionalProperties: false,
        properties: {
          contentType: { const: 'application/vnd.microsoft.card.adaptive' },
          contentUrl: { type: 'null' },
          content: CARD,
        },
      },
    },
  },
};

const ajv = new Ajv2020({ allErrors: true, strict: false });
const isSlack = ajv.compile(SLACK);
const isTeams = ajv.compile(TEAMS);

/** What people read in Slack, one block a line; links as `[text](url)`. */
export function readSlack(body: string): string {
  const message: { text: string; blocks: { text: { text: string } }[] } = JSON.parse(body);
  isSlack(message);
  expect(isSlack.errors ?? []).toEqual([]);
  expect(message.text).not.toMatch(/[<>]/);
  return message.blocks.map(({ text }) => readMrkdwn(text.text)).join('\n');
}

function readMrkdwn(text: string): string {
  const plain = text.replaceAll(/<([^<>]*)>/g, (_all, inner: string) => {
    // `<!channel>`, `<@U1>` and `<#C1>` would notify people.
    const [, url = '', shown = ''] = /^(https?:\/\/[^|]+)\|([^|]+)$/.exec(inner) ?? [];
    expect(url, `<${inner}>`).not.toBe('');
    return `[${shown}](${url})`;
  });
  expect(plain).not.toMatch(/[<>]/);
  expect(plain.match(/&(?!amp;|lt;|gt;)/g)).toBeNull();
  for (const line of plain.split('\n')) expect((line.split('`').length - 1) % 2, line).toBe(0);
  return plain.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

interface Card {
  readonly actions?: readonly { readonly url: string }[];
  readonly body: readonly {
    readonly inlines: readonly { readonly text: string; readonly selectAction?: { readonly url: string } }[];
  }[];
}

/** What people read in Teams, one block a line; links as `[text](url)`. */
export function readTeams(body: string): string {
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(28 * 1024);
  const message: { attachments: { content: Card }[] } = JSON.parse(body);
  isTeams(message);
  expect(isTeams.errors ?? []).toEqual([]);
  const { actions = [], body: blocks = [] } = message.attachments[0]?.content ?? {};
  const lines = blocks.map(({ inlines }) =>
    inlines
      .map(({ text, selectAction }) => {
        expect(text).not.toMatch(/\{\{(?:DATE|TIME)\(/);
        return selectAction === undefined ? text : `[${text}](${selectAction.url})`;
      })
      .join(''),
  );
  return [...lines, ...actions.map(({ url }) => `[More](${url})`)].join('\n');
}
