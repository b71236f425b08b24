// Finds places in a value that is YAML itself, such as a configuration file in a manifest.

import type { Document, ParsedNode, Scalar } from 'yaml';
import { parseNodes } from './nodes.ts';
import { isScalar } from './package.ts';

interface InnerText {
  readonly document: Document.Parsed;
  readonly source: string;
}

/** Parsed documents, by their node: a text with many faults is parsed only once. */
const DOCUMENTS = new WeakMap<Scalar, Document.Parsed>();

/**
 * Maps an offset in the first document of a literal block (`|`) to an offset in the source. Returns undefined if the
 * node is not a literal block, or if the block cannot be parsed.
 */
export function offsetInText(
  node: ParsedNode | null,
  source: string,
  find: (text: InnerText) => number,
): number | undefined {
  if (!isScalar(node) || node.type !== 'BLOCK_LITERAL' || typeof node.value !== 'string') return undefined;
  const document = DOCUMENTS.get(node) ?? firstDocument(node.value);
  if (document === undefined || node.range === undefined || node.range === null) return undefined;
  DOCUMENTS.set(node, document);
  const before = node.value.slice(0, find({ document, source: node.value })).split('\n');
  let lineStart = source.indexOf('\n', node.range[0]) + 1;
  const indent = indentOf(node.value, source.slice(lineStart, node.range[1]));
  for (let line = 1; line < before.length; line += 1) lineStart = source.indexOf('\n', lineStart) + 1;
  return lineStart + indent + (before.at(-1)?.length ?? 0);
}

function firstDocument(text: string): Document.Parsed | undefined {
  try {
    return parseNodes(text).documents[0];
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns the indentation of the value's lines in the source. */
function indentOf(value: string, written: string): number {
  return blanksBefore(written) - blanksBefore(value);
}

/** Returns the number of blanks at the start of the first line that is not blank. */
function blanksBefore(text: string): number {
  const line = text.split('\n').find((each) => each.trim() !== '') ?? '';
  return line.length - line.trimStart().length;
}
