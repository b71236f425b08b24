// Shows the result of a tool call: texts, images, and resources, which the reader can read in the same session.

import { button, type Child, element } from '#std/page/shared/elements.ts';
import { items, type Members, members, text } from '../json.ts';
import type { McpSession } from './mcp.ts';

export interface AnswerDeps {
  readonly session: Pick<McpSession, 'read'>;
  readonly signal: AbortSignal;
}

/**
 * Formats that browsers show without running code. SVG is excluded, because a small file may draw millions of shapes.
 */
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** Maximum size of an image, in characters of base64. */
const IMAGE_MAX = 8 * 1024 * 1024;

export function answerBlocks(result: Members, deps: AnswerDeps): readonly HTMLElement[] {
  const { content, structuredContent, isError } = result;
  const blocks = items(content).map((each, index) => block(members(each), index + 1, deps));
  const data = JSON.stringify(structuredContent, undefined, 2);
  const nothing = blocks.length === 0 ? [textBlock('')] : [];
  return [
    ...(isError === true ? [element('p', { class: 'notice warn' }, 'The tool says that it failed.')] : []),
    element('div', { class: 'answer', role: 'region', 'aria-label': 'Answer' }, ...blocks, ...nothing),
    ...(data === undefined
      ? []
      : [element('details', {}, element('summary', {}, 'As data'), element('pre', { tabindex: '0' }, data))]),
  ];
}

function block(content: Members, position: number, deps: AnswerDeps): HTMLElement {
  switch (content.type) {
    case 'text':
      return textBlock(text(content.text) ?? '');
    case 'image':
      return imageBlock(content.data, content.mimeType, `Image at position ${position} of the answer`);
    case 'resource':
      return resourceBlock(members(content.resource));
    case 'resource_link':
      return linkBlock(content, deps);
    default:
      return textBlock(`[${String(content.type)}${mimeNote(content.mimeType)}]`);
  }
}

function mimeNote(mimeType: unknown): string {
  const kind = text(mimeType);
  return kind === undefined ? '' : `, ${kind}`;
}

function textBlock(content: string): HTMLElement {
  // Focusable, so that keyboard users can scroll the text.
  return element('pre', { tabindex: '0' }, element('code', {}, content));
}

function imageBlock(data: unknown, mimeType: unknown, alt: string): HTMLElement {
  const [base64, type] = [text(data) ?? '', text(mimeType) ?? ''];
  if (!IMAGES.includes(type)) return textBlock(`[an image of type ${type}, which this page does not show]`);
  if (base64.length > IMAGE_MAX) return textBlock('[an image of more than 6 MiB, which this page does not show]');
  return element('img', { src: `data:${type};base64,${base64}`, alt });
}

/** Shows an embedded resource. */
function resourceBlock({ uri, text: content, blob, mimeType }: Members): HTMLElement {
  const shown = text(content);
  const about = `[resource ${String(uri)}${mimeNote(mimeType)}]`;
  if (shown !== undefined) return textBlock(shown);
  const isImage = IMAGES.includes(text(mimeType) ?? '');
  return isImage ? imageBlock(blob, mimeType, about) : textBlock(about);
}

/** Shows a link to a resource, with a button that reads its content from the server. */
function linkBlock(link: Members, { session, signal }: AnswerDeps): HTMLElement {
  const uri = text(link.uri) ?? '';
  const content = element('div', { 'aria-live': 'polite' });
  const read = button('Read it', () => void load(), { 'aria-label': `Read ${uri}` });

  async function load(): Promise<void> {
    read.disabled = true;
    try {
      const { contents } = await session.read(uri, signal);
      const blocks = items(contents).map((each) => resourceBlock(members(each)));
      content.replaceChildren(...(blocks.length === 0 ? [textBlock('[the server sent no content]')] : blocks));
    } catch (error) {
      if (signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      content.replaceChildren(element('p', { class: 'notice trouble text', role: 'alert' }, message));
    } finally {
      read.disabled = false;
    }
  }

  const title = text(link.title) ?? text(link.name) ?? uri;
  const about: readonly Child[] = [
    element('p', { class: 'strong text' }, title),
    text(link.description) === undefined ? undefined : element('p', { class: 'text' }, text(link.description)),
    element('p', {}, element('code', { class: 'text' }, uri)),
  ];
  return element('div', { class: 'run' }, ...about, read, content);
}
