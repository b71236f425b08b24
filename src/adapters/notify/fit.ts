// Shortens a message to the limits of a chat: cuts long texts, and shortens lists until the message fits.

import type { ChatItem, ChatMessage, ChatSection } from '#reconciler/run/notify/ports.ts';
import { unicodeEscape } from '#std/json.ts';

export interface FittingSection extends ChatSection {
  readonly omitted: number;
}

export interface FittingMessage extends ChatMessage {
  readonly sections: readonly FittingSection[];
}

/** Items per list in each attempt. */
const ITEMS = [10, 5, 2, 0];
/** Maximum characters per text in the first attempt. Each further attempt halves this number. */
const CHARACTERS = 200;

/** Returns the longest body that fits. If none fits, returns the shortest body. */
export function fitMessage(
  message: ChatMessage,
  format: (fitting: FittingMessage) => object,
  fits: (body: string) => boolean,
): string {
  let body = '';
  for (const [attempt, items] of ITEMS.entries()) {
    body = JSON.stringify(format(shortened(message, items, CHARACTERS / 2 ** attempt)));
    if (fits(body)) return body;
  }
  return body;
}

function shortened(message: ChatMessage, items: number, characters: number): FittingMessage {
  const sections = message.sections.map((section): FittingSection => {
    const { title, command } = section;
    const shown = section.items.slice(0, items).map((item) => shortItem(item, characters));
    const short = { title: clipped(title, characters), items: shown, omitted: section.items.length - shown.length };
    return command === undefined ? short : { ...short, command };
  });
  return { ...message, headline: clipped(message.headline, characters), sections };
}

function shortItem({ text, url }: ChatItem, characters: number): ChatItem {
  const short = clipped(text, characters);
  return url === undefined || url.length > URL_MAX ? { text: short } : { text: short, url };
}

/** Maximum length of a URL. Longer URLs are dropped, because a cut URL would lead to another page. */
const URL_MAX = 500;

/** Cuts a text. Escapes line breaks and characters that change the text direction, which file names may contain. */
function clipped(text: string, characters: number): string {
  const visible = text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, unicodeEscape);
  const points = [...visible];
  return points.length <= characters ? visible : `${points.slice(0, characters - 1).join('')}…`;
}
