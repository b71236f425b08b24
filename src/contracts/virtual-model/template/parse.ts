// Parses a Go template. Accepts and refuses the same templates as text/template of Go. Source: Go 1.26, text/template,
// "Actions" and "Nested template definitions".

import {
  type Cursor,
  expect,
  nested,
  newScope,
  peek,
  peekRaw,
  refuseAt,
  refuseToken,
  type TemplateFault,
  type TemplateScope,
  take,
  takeRaw,
} from './cursor.ts';
import type { Branch, Template, TemplateNode } from './nodes.ts';
import { readPipeline, readString } from './pipelines.ts';
import { type Token, tokensOf } from './tokens.ts';

export type ParsedTemplate = { readonly template: Template } | { readonly fault: TemplateFault };

/** The functions of Go 1.26, text/template, "Functions". */
const BUILTINS = [
  ...['and', 'or', 'not', 'len', 'index', 'slice', 'print', 'printf', 'println', 'html', 'js', 'urlquery', 'call'],
  ...['eq', 'ne', 'lt', 'le', 'gt', 'ge'],
];

/** The functions of Go, and the functions that workflows add. */
const FUNCTIONS: ReadonlySet<string> = new Set([...BUILTINS, 'json', 'quote', 'fromJson']);

export function parseTemplate(text: string): ParsedTemplate {
  const cursor: Cursor = { tokens: tokensOf(text), functions: FUNCTIONS, definitions: new Map(), at: 0, depth: 0 };
  const scope = newScope();
  const nodes: TemplateNode[] = [];
  while (peekRaw(cursor).type !== 'end') {
    if (definitionFollows(cursor)) {
      readDefinition(cursor);
      continue;
    }
    const part = readPart(cursor, scope);
    if (isNode(part)) nodes.push(part);
    else refuseAt(cursor, part.at, `{{${part.type}}} belongs to nothing`);
  }
  const { fault, definitions } = cursor;
  return fault === undefined ? { template: { nodes, definitions } } : { fault };
}

/** The action that ends a body: `{{end}}` or `{{else}}`. */
interface Ending {
  readonly type: 'end' | 'else';
  readonly at: number;
}

function isNode(part: TemplateNode | Ending): part is TemplateNode {
  return part.type !== 'end' && part.type !== 'else';
}

/**
 * Returns true if a definition follows, and moves the cursor to `define`. `define` is allowed only outside all other
 * actions.
 */
function definitionFollows(cursor: Cursor): boolean {
  if (peekRaw(cursor).type !== 'open') return false;
  const start = cursor.at;
  takeRaw(cursor);
  if (isKeyword(peek(cursor), 'define')) return true;
  cursor.at = start;
  return false;
}

function isKeyword({ type, text }: Token, keyword: string): boolean {
  return type === 'keyword' && text === keyword;
}

/** Reads a definition. The cursor is at `define`. */
function readDefinition(cursor: Cursor): void {
  const { at } = take(cursor);
  const name = readName(cursor);
  expect(cursor, 'close', 'the end of the action');
  define(cursor, name, readDefined(cursor), at);
}

function readName(cursor: Cursor): string {
  const token = take(cursor);
  if (token.type === 'string' || token.type === 'raw string') return readString(cursor, token);
  refuseToken(cursor, token, 'the name of a template in quotes');
  return '';
}

/** Reads the body of a definition up to its `{{end}}`. The body cannot use variables from outside. */
function readDefined(cursor: Cursor): readonly TemplateNode[] {
  const { nodes, ending } = parseBody(cursor, newScope());
  if (ending.type !== 'end') refuseAt(cursor, ending.at, 'expected {{end}}, not {{else}}');
  return nodes;
}

function define(cursor: Cursor, name: string, nodes: readonly TemplateNode[], at: number): void {
  const earlier = cursor.definitions.get(name);
  if (earlier === undefined || earlier.every(isBlank)) cursor.definitions.set(name, nodes);
  else if (!nodes.every(isBlank)) refuseAt(cursor, at, `the template ${JSON.stringify(name)} is defined twice`);
}

/** Matches only characters that Go treats as white space. JavaScript's `\s` also matches other characters. */
const BLANK = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

function isBlank(node: TemplateNode): boolean {
  return node.type === 'text' && BLANK.test(node.text);
}

interface Body {
  readonly nodes: readonly TemplateNode[];
  readonly ending: Ending;
}

function parseBody(cursor: Cursor, scope: TemplateScope): Body {
  const nodes: TemplateNode[] = [];
  while (peek(cursor).type !== 'end') {
    const part = readPart(cursor, scope);
    if (!isNode(part)) return { nodes, ending: part };
    nodes.push(part);
  }
  const { at } = peek(cursor);
  refuseAt(cursor, at, '{{end}} is missing');
  return { nodes, ending: { type: 'end', at } };
}

function readPart(cursor: Cursor, scope: TemplateScope): TemplateNode | Ending {
  const token = take(cursor);
  const { type, text, at } = token;
  if (type === 'open') return readAction(cursor, scope, at);
  if (type !== 'text') refuseToken(cursor, token, 'text or an action');
  return { type: 'text', text, at };
}

function readAction(cursor: Cursor, scope: TemplateScope, at: number): TemplateNode | Ending {
  const token = peek(cursor);
  if (token.type !== 'keyword') return { type: 'action', pipeline: readPipeline(cursor, scope, 'action'), at };
  take(cursor);
  switch (token.text) {
    case 'if':
    case 'with':
    case 'range':
      return readBranch(cursor, scope, token.text, at);
    case 'else':
      return readElse(cursor, at);
    case 'end':
      expect(cursor, 'close', 'the end of the action');
      return { type: 'end', at };
    case 'break':
    case 'continue':
      return readJump(cursor, scope, token.text, at);
    case 'block':
      return readBlock(cursor, scope, at);
    case 'template':
      return readCall(cursor, scope, at);
    default:
      refuseAt(cursor, token.at, `${token.text} may only stand at the outermost level`);
      return { type: 'end', at };
  }
}

function readBranch(cursor: Cursor, scope: TemplateScope, type: Branch['type'], at: number): Branch {
  return nested(cursor, at, () => {
    const outside = scope.variables.length;
    const loops = type === 'range' ? 1 : 0;
    const pipeline = readPipeline(cursor, scope, type === 'range' ? 'range' : 'action');
    scope.loops += loops;
    const { nodes, ending } = parseBody(cursor, scope);
    scope.loops -= loops;
    const otherwise = ending.type === 'else' ? readOtherwise(cursor, scope, type) : [];
    scope.variables.length = outside;
    return { type, pipeline, body: nodes, otherwise, at };
  });
}

/** Reads the branch after an `else`. After `{{else if}}` or `{{else with}}`, one `{{end}}` ends both branches. */
function readOtherwise(cursor: Cursor, scope: TemplateScope, type: Branch['type']): readonly TemplateNode[] {
  const next = peekRaw(cursor);
  if (type !== 'range' && isKeyword(next, type)) {
    takeRaw(cursor);
    return [readBranch(cursor, scope, type, next.at)];
  }
  const { nodes, ending } = parseBody(cursor, scope);
  if (ending.type !== 'end') refuseAt(cursor, ending.at, 'expected {{end}}: there is an {{else}} already');
  return nodes;
}

function readElse(cursor: Cursor, at: number): Ending {
  const next = peek(cursor);
  if (!isKeyword(next, 'if') && !isKeyword(next, 'with')) expect(cursor, 'close', 'if, with or the end of the action');
  return { type: 'else', at };
}

function readJump(cursor: Cursor, scope: TemplateScope, type: 'break' | 'continue', at: number): TemplateNode {
  expect(cursor, 'close', 'the end of the action');
  if (scope.loops === 0) refuseAt(cursor, at, `{{${type}}} must be inside a {{range}}`);
  return { type, at };
}

/** Reads `{{block}}`, which defines a template and calls it in the same place. */
function readBlock(cursor: Cursor, scope: TemplateScope, at: number): TemplateNode {
  const name = readName(cursor);
  const pipeline = readPipeline(cursor, scope, 'action');
  const nodes = nested(cursor, at, () => readDefined(cursor));
  define(cursor, name, nodes, at);
  return { type: 'template', name, pipeline, at };
}

function readCall(cursor: Cursor, scope: TemplateScope, at: number): TemplateNode {
  const name = readName(cursor);
  if (peek(cursor).type === 'close') {
    take(cursor);
    return { type: 'template', name, at };
  }
  return { type: 'template', name, pipeline: readPipeline(cursor, scope, 'action'), at };
}
