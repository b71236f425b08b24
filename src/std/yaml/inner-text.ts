// Finds places inside a text that is a value of a YAML document and YAML itself, such as a configuration file in a manifest.

import type { Document, ParsedNode, Scalar } from 'yaml';
import { parseNodes } from './nodes.ts';
import { isScalar } from './package.ts';

interface InnerText {
  readonly document: Document.Parsed;
  readonly source: string;
}

/** One text may have as many faults as fields: it is parsed once. */
const DOCUMENTS = new WeakMap<Scalar, Document.Parsed>();

/**
 * Maps an offset in the first document of a literal block (`|`) to one in the source around it. Undefined: the node is not such
 * a block, so that its lines are not those of the source, or it cannot be parsed.
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

/** Characters that each line of the source has before the line of the value. */
function indentOf(value: string, written: string): number {
  return blanksBefore(written) - blanksBefore(value);
}

/** Of the first line that has anything else. */
function blanksBefore(text: string): number {
  const line = text.split('\n').find((each) => each.trim() !== '') ?? '';
  return line.length - line.trimStart().length;
}
