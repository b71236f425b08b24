// Reads a registry file of any format.

import type { SourceFormat } from '#contracts/registry/source.ts';
import type { Document } from '../ports.ts';
import { type ParsedDocument, readJson } from './document.ts';
import { parseToolhive } from './toolhive.ts';
import { parseUpstream } from './upstream.ts';

/**
 * Returns the entries, and the rejected entries with reason and place. If the text is not a registry file, returns the
 * problem `registry-not-json` or `registry-wrong-shape`. `location` is the file name for places. If `extent` is
 * `whole`, the text must contain the whole list.
 */
export function parseRegistry(
  format: SourceFormat,
  text: string,
  location: string,
  extent: 'whole' | 'page' = 'whole',
): ParsedDocument {
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
 * Reads the pages of one list. If an entry is on two pages, it moved during the reading, and the later page is used. A
 * broken page makes the whole result a problem.
 */
export function parseDocuments(format: SourceFormat, documents: readonly Document[]): ParsedDocument {
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
