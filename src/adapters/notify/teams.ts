// Renders a message as an Adaptive Card (adaptivecards.io, version 1.4) for a Microsoft Teams workflow that posts
// webhook content. Uses text runs, because text blocks interpret Markdown.

import type { ChatMessage } from '#reconciler/run/notify/ports.ts';
import { type FittingMessage, type FittingSection, fitMessage } from './fit.ts';

/** Teams accepts messages of up to 28 KB. The workflow adds some bytes. */
const BYTES_MAX = 24 * 1024;

const COLOURS = { good: 'Good', waiting: 'Warning', bad: 'Attention' } as const;

export function teamsBody(message: ChatMessage): string {
  return fitMessage(message, formatMessage, (body) => Buffer.byteLength(body) <= BYTES_MAX);
}

function formatMessage({ mood, headline, sections, page }: FittingMessage): object {
  const head = { ...run(headline), weight: 'Bolder', size: 'Medium', color: COLOURS[mood] };
  const actions = page === undefined ? {} : { actions: [{ type: 'Action.OpenUrl', title: 'More', url: page }] };
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [line(head), ...sections.flatMap(formatSection)],
    ...actions,
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}

function formatSection({ title, items, omitted, command }: FittingSection): readonly object[] {
  return [
    { ...line({ ...run(title), weight: 'Bolder' }), spacing: 'Medium' },
    ...items.map(({ text, url }) => line(run('• '), url === undefined ? run(text) : link(url, text))),
    ...(omitted === 0 ? [] : [line(run(`• and ${omitted} more`))]),
    ...(command === undefined ? [] : [line(run('To go on: '), { ...run(command), fontType: 'Monospace' })]),
  ].map((block, index) => (index === 0 ? block : { ...block, spacing: 'None' }));
}

function line(...inlines: readonly object[]) {
  return { type: 'RichTextBlock', inlines };
}

function run(text: string) {
  return { type: 'TextRun', text: withoutFunctions(text) };
}

function link(url: string, text: string): object {
  return { ...run(text), selectAction: { type: 'Action.OpenUrl', url } };
}

/** Breaks up `{{DATE(...)}}` and `{{TIME(...)}}`, which cards would replace. */
function withoutFunctions(text: string): string {
  return text.replaceAll('{{', '{\u200b{');
}
