// Reads the text of a registry file in any of the formats. Knows nothing about where the text is from.

import type { SourceFormat } from '../../contracts/registry-source.ts';
import { type Parsed, readJson } from './document.ts';
import { parseToolhive } from './toolhive.ts';
import { parseUpstream } from './upstream.ts';

/**
 * Entries, and what was left out with the reason and its place. Not `ok` where the text as a whole is no registry
 * file: `registry-not-json` or `registry-wrong-shape`. `location` is the file name that places carry.
 */
export function parseRegistry(format: SourceFormat, text: string, location: string): Parsed {
  const document = readJson(text, location);
  if ('code' in document) return { ok: false, problem: document };
  switch (format) {
    case 'toolhive':
      return parseToolhive(document);
    case 'upstream':
      return parseUpstream(document);
  }
}
