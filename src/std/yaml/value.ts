// Converts a parsed YAML document to a JSON value, and reports everything that Kubernetes would refuse.

import type { Document, Pair, ParsedNode, YAMLMap } from 'yaml';
import { type Json, type JsonObject, pointerToken } from '../json.ts';
import type { YamlCode } from './codes.ts';
import { isAlias, isMap, isScalar, isSeq } from './package.ts';
import { explainParseError } from './parse-errors.ts';
import { resolveScalar } from './scalar.ts';

export interface YamlFault {
  readonly code: YamlCode;
  readonly message: string;
  readonly offset: number;
  readonly pointer?: string;
}

export interface YamlValue {
  /** undefined if the document is unreadable. */
  readonly value: Json | undefined;
  readonly faults: readonly YamlFault[];
}

type Node = ParsedNode | null;
type MapEntry = Pair<ParsedNode, ParsedNode | null>;

/** Limits of go-yaml 2: the share of nodes from aliases, in small and in huge documents. */
const FREE_ALIASED = 100;
const FREE_NODES = 1000;
const SMALL = { nodes: 400_000, share: 0.99 };
const HUGE = { nodes: 4_000_000, share: 0.1 };

interface ValueReader {
  readonly faults: YamlFault[];
  readonly anchors: Map<string, ParsedNode>;
  /** Anchored nodes that are being read. An alias of such a node contains itself. */
  readonly open: Set<ParsedNode>;
  nodes: number;
  aliased: number;
  /** Above zero while the target of an alias is read. */
  depth: number;
}

/** Ends the reading of a document whose fault is already recorded. */
const STOPPED = Symbol('stopped');

export function toValue(document: Document.Parsed): YamlValue {
  const broken = document.errors.toSorted((a, b) => a.pos[0] - b.pos[0])[0];
  if (broken !== undefined) return unreadableValue(explainParseError(broken), broken.pos[0]);
  const { yaml } = document.directives ?? {};
  if (yaml?.explicit === true && yaml.version !== '1.1') {
    return unreadableValue(
      `Kubernetes reads YAML 1.1, not ${yaml.version}: remove the %YAML directive.`,
      document.range[0],
    );
  }
  const reader: ValueReader = { faults: [], anchors: new Map(), open: new Set(), nodes: 0, aliased: 0, depth: 0 };
  const value = readNode(reader, document.contents, '');
  return { value: value === STOPPED ? undefined : value, faults: reader.faults };
}

function unreadableValue(message: string, offset: number): YamlValue {
  return { value: undefined, faults: [{ code: 'yaml-syntax', message, offset }] };
}

function sentence(message: string): string {
  return message.endsWith('.') ? message : `${message}.`;
}

function report(reader: ValueReader, code: YamlCode, message: string, node: Node, pointer: string): void {
  reader.faults.push({ code, message, offset: node?.range[0] ?? 0, pointer });
}

function readNode(reader: ValueReader, node: Node, pointer: string): Json | typeof STOPPED {
  if (node === null) return null;
  reader.nodes++;
  if (reader.depth > 0) reader.aliased++;
  if (exploded(reader)) {
    report(
      reader,
      'yaml-alias-bomb',
      'The aliases of this document expand to far more than is written.',
      node,
      pointer,
    );
    return STOPPED;
  }
  if (isAlias(node)) return readAlias(reader, node, pointer);
  if (node.anchor === undefined) return readContent(reader, node, pointer);
  reader.anchors.set(node.anchor, node);
  reader.open.add(node);
  const value = readContent(reader, node, pointer);
  reader.open.delete(node);
  return value;
}

function exploded({ nodes, aliased }: ValueReader): boolean {
  if (aliased <= FREE_ALIASED || nodes <= FREE_NODES) return false;
  const progress = Math.min(Math.max((nodes - SMALL.nodes) / (HUGE.nodes - SMALL.nodes), 0), 1);
  return aliased / nodes > SMALL.share - progress * (SMALL.share - HUGE.share);
}

function readAlias(reader: ValueReader, node: ParsedNode & { source: string }, pointer: string): Json | typeof STOPPED {
  const target = reader.anchors.get(node.source);
  if (target === undefined) {
    // The message does not contain the name, which may be an unquoted password that begins with `*`.
    const message = 'This alias has no anchor before it: a text that begins with * needs quotes.';
    report(reader, 'yaml-syntax', message, node, pointer);
    return null;
  }
  if (reader.open.has(target)) {
    report(reader, 'yaml-alias-bomb', `The anchor &${node.source} contains itself.`, node, pointer);
    return STOPPED;
  }
  reader.depth++;
  const value = readNode(reader, target, pointer);
  reader.depth--;
  return value;
}

function readContent(reader: ValueReader, node: ParsedNode, pointer: string): Json | typeof STOPPED {
  if (isMap(node)) return readMap(reader, node, pointer);
  if (!isSeq(node)) return readScalar(reader, node, pointer);
  const items: Json[] = [];
  for (const [index, item] of node.items.entries()) {
    const value = readNode(reader, item, `${pointer}/${index}`);
    if (value === STOPPED) return STOPPED;
    items.push(value);
  }
  return items;
}

function readScalar(reader: ValueReader, node: ParsedNode, pointer: string): Json {
  if (!isScalar(node)) return null;
  const plain = node.type === 'PLAIN';
  // A scalar without characters (`key:`) has no type. Its value is null.
  const text = typeof node.value === 'string' ? node.value : '';
  const resolved = resolveScalar(text, plain || node.type === undefined, node.tag);
  if (!resolved.ok) {
    report(reader, 'yaml-syntax', sentence(capital(resolved.reason)), node, pointer);
    return null;
  }
  if (resolved.inexact === true) {
    const message = 'An integer beyond 2^53 would be rounded on its way: quote it, or write a smaller one.';
    report(reader, 'yaml-integer-precision', message, node, pointer);
  }
  return resolved.value;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function readMap(reader: ValueReader, node: YAMLMap.Parsed, pointer: string): JsonObject | typeof STOPPED {
  const fields: JsonObject = {};
  // Fields merged by `<<`, which the mapping's own keys may replace.
  const merged = new Set<string>();
  for (const entry of node.items as MapEntry[]) {
    if (isMergeKey(entry.key)) {
      if (mergeInto(reader, fields, merged, entry, pointer) === STOPPED) return STOPPED;
      continue;
    }
    const key = readKey(reader, entry.key, pointer);
    if (key === STOPPED) return STOPPED;
    if (key === undefined) continue;
    const inner = `${pointer}/${pointerToken(key)}`;
    if (Object.hasOwn(fields, key) && !merged.delete(key)) {
      report(reader, 'yaml-duplicate-key', `The key "${key}" is set twice in this mapping.`, entry.key, inner);
    }
    if (key === '__proto__') {
      const message = 'The key "__proto__" would be lost on its way: give it another name.';
      report(reader, 'yaml-key-reserved', message, entry.key, inner);
    }
    const value = readNode(reader, entry.value, inner);
    if (value === STOPPED) return STOPPED;
    setField(fields, key, value);
  }
  return fields;
}

/** A plain assignment to `__proto__` would call its setter. */
function setField(fields: JsonObject, key: string, value: Json): void {
  Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
}

export function isMergeKey(key: Node): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === '<<';
}

function readKey(reader: ValueReader, node: Node, pointer: string): string | undefined | typeof STOPPED {
  const key = readNode(reader, node, pointer);
  if (key === STOPPED) return STOPPED;
  if (key !== null && typeof key !== 'object') return String(key);
  report(reader, 'yaml-syntax', 'A key must be a string, a number or a boolean.', node, pointer);
  return undefined;
}

function mergeInto(
  reader: ValueReader,
  fields: JsonObject,
  merged: Set<string>,
  entry: MapEntry,
  pointer: string,
): typeof STOPPED | undefined {
  const source = readNode(reader, entry.value, pointer);
  if (source === STOPPED) return STOPPED;
  const sources = Array.isArray(source) ? source : [source];
  const added: JsonObject = {};
  for (const item of sources) {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      report(reader, 'yaml-syntax', 'The value of << must be a mapping or a list of mappings.', entry.value, pointer);
      return undefined;
    }
    // The first of several merged mappings has precedence (YAML 1.1, merge keys).
    for (const [key, value] of Object.entries(item)) {
      if (value !== undefined && !Object.hasOwn(added, key)) setField(added, key, value);
    }
  }
  for (const [key, value] of Object.entries(added)) {
    if (Object.hasOwn(fields, key)) {
      const message = `The key "${key}" is set before << sets it again, and readers differ on which counts: put << first.`;
      report(reader, 'yaml-duplicate-key', message, entry.key, `${pointer}/${pointerToken(key)}`);
    }
    if (value !== undefined) setField(fields, key, value);
    merged.add(key);
  }
  return undefined;
}
