// Implements the functions of strings, by code points as in cel-go. Source: cel-go ext/strings, version 2.

import { CHARACTERS_PER_UNIT, spend } from '../cost.ts';
import { fail, itemsOf, type Library, OURS } from './library.ts';

export const TEXT_LIBRARY: Library = {
  functions: {
    'string.charAt(int): string': charAt,
    [`string.indexOf${OURS}(string): int`]: (text: string, part: string) => indexOf(text, part, 0n),
    [`string.indexOf${OURS}(string, int): int`]: indexOf,
    [`string.lastIndexOf${OURS}(string): int`]: (text: string, part: string) => lastIndexOf(text, part, size(text)),
    [`string.lastIndexOf${OURS}(string, int): int`]: lastIndexOf,
    [`string.lowerAscii${OURS}(): string`]: (text: string) =>
      text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
    [`string.upperAscii${OURS}(): string`]: (text: string) =>
      text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()),
    'string.replace(string, string): string': (text: string, from: string, to: string) => replace(text, from, to, -1n),
    'string.replace(string, string, int): string': replace,
    [`string.split${OURS}(string): list<string>`]: (text: string, separator: string) => split(text, separator, -1n),
    [`string.split${OURS}(string, int): list<string>`]: split,
    [`string.substring${OURS}(int): string`]: (text: string, start: bigint) => substring(text, start, size(text)),
    [`string.substring${OURS}(int, int): string`]: substring,
    [`string.trim${OURS}(): string`]: (text: string) => text.replaceAll(/^[\s\u0085]+|[\s\u0085]+$/g, ''),
    [`list<string>.join${OURS}(): string`]: (list: Iterable<string>) => itemsOf(list).join(''),
    [`list<string>.join${OURS}(string): string`]: (list: Iterable<string>, separator: string) =>
      join(itemsOf(list), separator),
  },
};

function size(text: string): bigint {
  return BigInt([...text].length);
}

function charAt(text: string, index: bigint): string {
  const characters = [...text];
  if (index < 0n || index > BigInt(characters.length)) fail(`index out of range: ${index}`);
  return characters[Number(index)] ?? '';
}

function indexOf(text: string, part: string, from: bigint): bigint {
  if (part === '') return from;
  const characters = [...text];
  if (from < 0n || from >= BigInt(characters.length)) fail(`index out of range: ${from}`);
  const rest = characters.slice(Number(from)).join('');
  const found = rest.indexOf(part);
  return found < 0 ? -1n : from + size(rest.slice(0, found));
}

function lastIndexOf(text: string, part: string, upTo: bigint): bigint {
  const length = size(text);
  if (part === '') return upTo;
  if (upTo < 0n || upTo > length || (upTo === length && length === 0n && part !== '')) {
    return length === 0n ? -1n : fail(`index out of range: ${upTo}`);
  }
  const head = [...text].slice(0, Number(upTo) + [...part].length).join('');
  const found = head.lastIndexOf(part);
  return found < 0 ? -1n : size(head.slice(0, found));
}

function replace(text: string, from: string, to: string, limit: bigint): string {
  if (limit === 0n) return text;
  const parts = from === '' ? ['', ...text] : text.split(from);
  const pieces = from === '' ? [...parts, ''] : parts;
  const count = limit < 0n ? pieces.length - 1 : Math.min(Number(limit), pieces.length - 1);
  spend((text.length + count * to.length) / CHARACTERS_PER_UNIT);
  const replaced = pieces.slice(0, count + 1).join(to);
  const rest = pieces.slice(count + 1);
  return rest.length === 0 ? replaced : replaced + from + rest.join(from);
}

function join(items: readonly string[], separator: string): string {
  spend((items.length * separator.length) / CHARACTERS_PER_UNIT);
  return items.join(separator);
}

function split(text: string, separator: string, limit: bigint): string[] {
  if (limit === 0n) return [];
  const parts = separator === '' ? [...text] : text.split(separator);
  if (limit < 0n || parts.length <= Number(limit)) return parts;
  const last = Number(limit) - 1;
  return [...parts.slice(0, last), parts.slice(last).join(separator)];
}

function substring(text: string, start: bigint, end: bigint): string {
  const characters = [...text];
  const length = BigInt(characters.length);
  if (start < 0n || start > length) fail(`index out of range: ${start}`);
  if (end < 0n || end > length) fail(`index out of range: ${end}`);
  if (start > end) fail(`invalid substring range. start: ${start}, end: ${end}`);
  return characters.slice(Number(start), Number(end)).join('');
}
