// Reads the text of a registry file in any of the formats.

import type { SourceFormat } from '#contracts/registry/source.ts';
import type { Document } from '../ports.ts';
import { type Parsed, readJson } from './document.ts';
import { parseToolhive } from './toolhive.ts';
import { parseUpstream } from './upstream.ts';

/**
 * Entries, and what was left out with the reason and its place. Not `ok` where the text as a whole is no registry
 * file: `registry-not-json` or `registry-wrong-shape`. `location` is the file name that places carry. `extent`: whether
 * the text must be all there is.
 */
export function parseRegistry(
  format: SourceFormat,
  text: string,
  location: string,
  extent: 'whole' | 'page' = 'whole',
): Parsed {
  const document = readJson(text, location);
  if ('code' in document) return { ok: false, problem: document };
  switch (format) {
    case 'toolhive':
      return parseToolhive(document);
    case 'upstream':
      return parseUpstream(document, extent);
  }
}

/**
 * Several pages of one list. What is on two of them moved while they were read: the later one counts. Not `ok` where one
 * of them is not.
 */
export function parseDocuments(format: SourceFormat, documents: readonly Document[]): Parsed {
  const [only, ...more] = documents;
  if (only !== undefined && more.length === 0) return parseRegistry(format, only.text, only.location);
  const pages = documents.map(({ text, location }) => parseRegistry(format, text, location, 'page'));
  const broken = pages.find(({ ok }) => !ok);
  if (broken !== undefined) return broken;
  const read = pages.filter((page) => page.ok);
  const entries = new Map(
    read.flatMap((page) => page.entries).map((entry) => [`${entry.name} ${entry.version}`, entry]),
  );
  return {
    ok: true,
    entries: [...entries.values()],
    rejected: read.flatMap(({ rejected }) => rejected),
    groups: read.flatMap(({ groups }) => groups),
  };
}
