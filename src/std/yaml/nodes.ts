// Parses YAML to nodes with their positions.

import type { Document, LineCounter } from 'yaml';
import { yamlPackage } from './package.ts';

export interface YamlNodes {
  readonly documents: readonly Document.Parsed[];
  readonly lines: LineCounter;
}

/** Parses a text. Throws RangeError if the text is nested too deeply. */
export function parseNodes(text: string): YamlNodes {
  const { LineCounter, parseAllDocuments } = yamlPackage();
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    version: '1.1',
    schema: 'failsafe',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter: lines,
  });
  return { documents: [...documents], lines };
}
