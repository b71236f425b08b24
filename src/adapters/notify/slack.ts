// Renders a message for an incoming webhook of Slack as blocks of mrkdwn (docs.slack.dev, "Sending messages using
// incoming webhooks", "Formatting message text").

import type { ChatMessage } from '#reconciler/run/notify/ports.ts';
import { type FittingMessage, type FittingSection, fitMessage } from './fit.ts';

/** Maximum characters in the text of a section after escaping. */
const TEXT_MAX = 3000;
const BLOCKS_MAX = 50;

const MARKS = { good: ':white_check_mark:', waiting: ':hourglass_flowing_sand:', bad: ':x:' } as const;

export function slackBody(message: ChatMessage): string {
  return fitMessage(message, formatMessage, fits);
}

function fits(body: string): boolean {
  const { blocks }: ReturnType<typeof formatMessage> = JSON.parse(body);
  return blocks.length <= BLOCKS_MAX && blocks.every(({ text }) => text.text.length <= TEXT_MAX);
}

function formatMessage({ mood, headline, sections, page }: FittingMessage) {
  const texts = [
    `${MARKS[mood]} *${escapeText(headline)}*`,
    ...sections.map(formatSection),
    ...(page === undefined ? [] : [linkTo(page, 'More')]),
  ];
  return {
    // Slack's notifications show this text instead of the blocks.
    text: escapeText(headline),
    unfurl_links: false,
    unfurl_media: false,
    blocks: texts.map((text) => ({ type: 'section', text: { type: 'mrkdwn', text } })),
  };
}

function formatSection({ title, items, omitted, command }: FittingSection): string {
  return [
    `*${escapeText(title)}*`,
    ...items.map(({ text, url }) => `• ${url === undefined ? code(text) : linkTo(url, text)}`),
    ...(omitted === 0 ? [] : [`• and ${omitted} more`]),
    ...(command === undefined ? [] : [`To go on: ${code(command)}`]),
  ].join('\n');
}

/** Puts the text in backticks, between which other formatting characters have no effect. */
function code(text: string): string {
  return `\`${escapeText(text)}\``;
}

function linkTo(url: string, text: string): string {
  return `<${escapeText(url).replaceAll('|', '%7C')}|${escapeText(text).replaceAll('|', '/')}>`;
}

/** Escapes `&`, `<` and `>`, which begin entities, links and mentions even in code. Replaces backticks. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('`', "'");
}
