// Lists the values of a text's documents, each with the keys that lead to it. The order is the order of the text, in
// which SOPS processes values.

import type { ParsedNode, YAMLMap } from 'yaml';
import { isObject, type Json, pointerToken } from '../json.ts';
import { parseNodes } from '../yaml/nodes.ts';
import { isAlias, isMap, isScalar, isSeq } from '../yaml/package.ts';
import { resolveScalar } from '../yaml/scalar.ts';
import { isMergeKey, toValue } from '../yaml/value.ts';

export interface Leaf {
  readonly pointer: string;
  /** Keys that lead to the value. SOPS ignores list indices. */
  readonly path: readonly string[];
  readonly text: string;
  /** True if the value is written without quotes. */
  readonly plain: boolean;
  readonly tag: string | undefined;
}

export interface SopsDocument {
  /** undefined if the document is unreadable. */
  readonly value: Json | undefined;
  /** The `sops` part, which describes the encryption. undefined if the document is not encrypted. */
  readonly sops: Json | undefined;
  /** All values outside the `sops` part. */
  readonly leaves: readonly Leaf[];
  /** Why SOPS cannot have written the document. */
  readonly oddity?: { readonly reason: string; readonly pointer: string };
}

interface LeafWalk {
  readonly leaves: Leaf[];
  oddity?: { readonly reason: string; readonly pointer: string };
}

type Node = ParsedNode | null;

/**
 * Returns the same documents as `readDocuments`, without empty documents. Returns undefined if the text is nested too
 * deeply.
 */
export function sopsDocuments(text: string): SopsDocument[] | undefined {
  try {
    return parseNodes(text).documents.flatMap((document) => {
      const { value, faults } = toValue(document);
      if (faults.length === 0 && (value === null || value === undefined)) return [];
      const sops = isObject(value) ? value.sops : undefined;
      const [fault] = faults;
      if (fault !== undefined) {
        const oddity = { reason: 'it has a YAML error', pointer: fault.pointer ?? '' };
        return [{ value, sops, leaves: [], oddity }];
      }
      const walk: LeafWalk = { leaves: [] };
      visit(walk, document.contents, '', []);
      return [{ value, sops, leaves: walk.leaves, oddity: walk.oddity }];
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function visit(walk: LeafWalk, node: Node, pointer: string, path: readonly string[]): void {
  if (isMap(node)) {
    for (const { key, value } of (node as YAMLMap.Parsed).items) visitField(walk, key, value, pointer, path);
    return;
  }
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) visit(walk, item as Node, `${pointer}/${index}`, path);
    return;
  }
  if (isAlias(node)) walk.oddity ??= { reason: 'it has an alias', pointer };
  if (!isScalar(node)) return;
  const text = typeof node.value === 'string' ? node.value : '';
  const plain = node.type === 'PLAIN' || node.type === undefined;
  walk.leaves.push({ pointer, path, text, plain, tag: node.tag });
}

function visitField(walk: LeafWalk, key: Node, value: Node, pointer: string, path: readonly string[]): void {
  if (!isScalar(key) || isMergeKey(key)) {
    walk.oddity ??= { reason: 'it has a merge key, or a key that is not a text', pointer };
    return;
  }
  const name = typeof key.value === 'string' ? key.value : '';
  if (path.length === 0 && pointer === '' && name === 'sops') return;
  const resolved = resolveScalar(name, key.type === 'PLAIN', key.tag);
  const read = resolved.ok ? String(resolved.value) : name;
  visit(walk, value, `${pointer}/${pointerToken(read)}`, [...path, name]);
}
