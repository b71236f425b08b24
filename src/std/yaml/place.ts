// Finds the place of a value in a YAML document. A pointer may lead into a value that is YAML itself.

import type { Document, ParsedNode, YAMLMap } from 'yaml';
import { pointerToken, pointerTokens } from '../json.ts';
import { offsetInText } from './inner-text.ts';
import { isAlias, isMap, isScalar, isSeq } from './package.ts';
import { resolveScalar } from './scalar.ts';
import { isMergeKey } from './value.ts';

interface NodePair {
  readonly key: ParsedNode | undefined;
  readonly value: ParsedNode | null;
}

/**
 * Returns the offset of the value at a JSON pointer, or of its key. If the value does not exist, returns the offset of
 * the nearest enclosing key. `source` is the text of all documents.
 */
export function offsetOf(document: Document.Parsed, source: string, pointer: string, at: 'key' | 'value'): number {
  let found: NodePair = { key: undefined, value: document.contents };
  const tokens = pointerTokens(pointer);
  for (const [index, token] of tokens.entries()) {
    const next = step(document, found.value, token);
    if (next === undefined) {
      const inner = offsetInText(followed(document, found.value), source, (text) =>
        offsetOf(text.document, text.source, joinedPointer(tokens.slice(index)), at),
      );
      return inner ?? start(found.key ?? found.value, document);
    }
    found = next;
  }
  const { key, value } = found;
  const written = at === 'value' && value !== null && !isBlank(value);
  return start(written ? value : (key ?? value), document);
}

function joinedPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${pointerToken(token)}`).join('');
}

function start(node: ParsedNode | null, document: Document.Parsed): number {
  return node?.range[0] ?? document.range[0];
}

/** Returns whether `key:` has no value. Its place would be the end of the line, which does not help readers. */
function isBlank(node: ParsedNode): boolean {
  return isScalar(node) && node.range[0] === node.range[1];
}

function step(document: Document.Parsed, node: ParsedNode | null, token: string): NodePair | undefined {
  const content = followed(document, node);
  if (isSeq(content)) {
    const item = content.items[Number(token)];
    return item === undefined ? undefined : { key: undefined, value: item as ParsedNode };
  }
  return isMap(content) ? field(document, content as YAMLMap.Parsed, token) : undefined;
}

/**
 * Finds a field: first among the mapping's own keys, then among merged keys. Of duplicate keys, finds the last, because
 * the document's value contains the last.
 */
function field(document: Document.Parsed, map: YAMLMap.Parsed, name: string): NodePair | undefined {
  const known = indexFields(map);
  const own = known.own.get(name);
  if (own !== undefined) return own;
  known.alike ??= alikeFields(map);
  const alike = known.alike.get(name);
  if (alike !== undefined) return alike;
  for (const merged of known.merged) {
    const source = followed(document, merged);
    for (const item of isSeq(source) ? source.items : [source]) {
      const content = followed(document, item as ParsedNode | null);
      const found = isMap(content) ? field(document, content as YAMLMap.Parsed, name) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

interface Fields {
  readonly own: ReadonlyMap<string, NodePair>;
  /** Keys whose value differs from their text, such as `yes` and `0x10`, by value. */
  alike: ReadonlyMap<string, NodePair> | undefined;
  readonly merged: readonly (ParsedNode | null)[];
}

/** Indexes by mapping: a document with many faults needs the index of a mapping only once. */
const FIELDS = new WeakMap<YAMLMap.Parsed, Fields>();

function indexFields(map: YAMLMap.Parsed): Fields {
  const known = FIELDS.get(map);
  if (known !== undefined) return known;
  const own = new Map<string, NodePair>();
  const merged: (ParsedNode | null)[] = [];
  for (const { key, value } of map.items) {
    if (isMergeKey(key)) merged.push(value);
    else if (isScalar(key) && typeof key.value === 'string') own.set(key.value, { key, value });
  }
  const fields: Fields = { own, alike: undefined, merged };
  FIELDS.set(map, fields);
  return fields;
}

function alikeFields({ items }: YAMLMap.Parsed): ReadonlyMap<string, NodePair> {
  const alike = new Map<string, NodePair>();
  for (const { key, value } of items) {
    const resolved = isScalar(key) ? resolveScalar(String(key.value), true, undefined) : undefined;
    if (resolved?.ok === true && resolved.value !== null) alike.set(String(resolved.value), { key, value });
  }
  return alike;
}

function followed(document: Document.Parsed, node: ParsedNode | null): ParsedNode | null {
  return isAlias(node) ? ((node.resolve(document) as ParsedNode | undefined) ?? null) : node;
}
