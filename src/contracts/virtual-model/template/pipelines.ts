// Parses the inside of an action of a Go template: declarations, commands and operands. Source: Go 1.26, text/template,
// "Arguments", "Pipelines" and "Variables".

import { closest } from '#std/closest.ts';
import {
  type Cursor,
  nested,
  peek,
  peekRaw,
  refuseAt,
  refuseToken,
  type TemplateScope,
  take,
  takeRaw,
} from './cursor.ts';
import { characterFault, characterValue, numberFault, numberValue, unquote } from './literals.ts';
import type { Command, Operand, Pipeline } from './nodes.ts';
import type { Token, TokenType } from './tokens.ts';

/** Part of the template around a pipeline. Only a pipeline in `range` may declare two variables. */
export type PipelineContext = 'range' | 'parentheses' | 'action';

const OPERANDS: ReadonlySet<TokenType> = new Set<TokenType>([
  'bool',
  'character',
  'complex',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'raw string',
  'string',
  'variable',
  '(',
]);

/** Reads a pipeline and the token that ends it. */
export function readPipeline(cursor: Cursor, scope: TemplateScope, context: PipelineContext): Pipeline {
  const end = context === 'parentheses' ? ')' : 'close';
  const { at } = peek(cursor);
  const { variables, assigns } = readDeclarations(cursor, scope, context);
  const commands: Command[] = [];
  while (peek(cursor).type !== end && cursor.fault === undefined) {
    if (OPERANDS.has(peek(cursor).type)) commands.push(readCommand(cursor, scope));
    else refuseToken(cursor, take(cursor), 'a value or a function');
  }
  const closing = take(cursor);
  if (commands.length === 0) refuseAt(cursor, closing.at, 'expected a value or a function, not nothing');
  for (const { operands, at: place } of commands.slice(1)) {
    if (operands[0] !== undefined && !isCallable(operands[0])) {
      refuseAt(cursor, place, 'expected a function after |: a value takes no argument');
    }
  }
  return { variables, assigns, commands, at };
}

/** Returns true if the operand may follow a `|`. */
function isCallable({ type }: Operand): boolean {
  return type === 'function' || type === 'field' || type === 'variable' || type === 'pipeline' || type === 'chain';
}

/** Reads `$x :=`, `$x =` or `$i, $x :=`. Returns an empty list if the pipeline begins with something else. */
function readDeclarations(
  cursor: Cursor,
  scope: TemplateScope,
  context: PipelineContext,
): { readonly variables: readonly string[]; readonly assigns: boolean } {
  const names: string[] = [];
  let assigns = false;
  while (peek(cursor).type === 'variable') {
    const start = cursor.at;
    const variable = take(cursor);
    const next = peek(cursor);
    const comma = next.type === 'other' && next.text === ',';
    if (next.type !== '=' && next.type !== ':=' && !comma) {
      cursor.at = start;
      break;
    }
    take(cursor);
    assigns = next.type === '=';
    names.push(variable.text);
    scope.variables.push(variable.text);
    if (!comma) break;
    if (context !== 'range' || names.length > 1) {
      refuseAt(
        cursor,
        next.at,
        context === 'range' ? 'range declares two variables at most' : 'only range declares two',
      );
    } else if (!['variable', 'close', ')'].includes(peek(cursor).type)) {
      refuseToken(cursor, peek(cursor), 'a second variable');
    }
  }
  return { variables: names, assigns };
}

/** Reads a command, and the `|` after the command if the pipeline continues. */
function readCommand(cursor: Cursor, scope: TemplateScope): Command {
  const { at } = peek(cursor);
  const operands: Operand[] = [];
  for (;;) {
    peek(cursor);
    const operand = readOperand(cursor, scope);
    if (operand !== undefined) operands.push(operand);
    const next = peekRaw(cursor);
    if (next.type === 'close' || next.type === ')') break;
    takeRaw(cursor);
    if (next.type === '|') break;
    if (next.type === 'space') continue;
    refuseToken(cursor, next, 'a blank before the next value');
    break;
  }
  return { operands, at };
}

/** Returns undefined if no operand begins here. */
function readOperand(cursor: Cursor, scope: TemplateScope): Operand | undefined {
  const token = peek(cursor);
  if (!OPERANDS.has(token.type)) return undefined;
  takeRaw(cursor);
  const term = readTerm(cursor, scope, token);
  const fields: string[] = [];
  const { at } = peekRaw(cursor);
  while (peekRaw(cursor).type === 'field') fields.push(takeRaw(cursor).text.slice(1));
  if (fields.length === 0) return term;
  switch (term.type) {
    case 'field':
    case 'variable':
      return { ...term, fields: [...term.fields, ...fields] };
    case 'function':
    case 'pipeline':
    case 'chain':
      return { type: 'chain', base: term, fields, at: term.at };
    default:
      refuseAt(cursor, at, `${token.text} has no fields`);
      return term;
  }
}

function readTerm(cursor: Cursor, scope: TemplateScope, token: Token): Operand {
  const { type, text, at } = token;
  switch (type) {
    case 'identifier':
      checkFunction(cursor, token);
      return { type: 'function', name: text, at };
    case 'variable':
      if (!scope.variables.includes(text)) {
        refuseAt(cursor, at, `the variable ${text} is not declared${suggestion(text, scope.variables)}`);
      }
      return { type: 'variable', name: text, fields: [], at };
    case 'field':
      return { type: 'field', fields: [text.slice(1)], at };
    case 'number':
    case 'complex':
      refuseWhere(cursor, at, numberFault(text, type));
      return { type: 'number', value: type === 'number' ? numberValue(text) : undefined, at };
    case 'character':
      refuseWhere(cursor, at, characterFault(text));
      return { type: 'number', value: characterValue(text), at };
    case 'string':
    case 'raw string':
      return { type: 'string', value: readString(cursor, token), at };
    case '(':
      return nested(cursor, at, () => ({ type: 'pipeline', pipeline: readPipeline(cursor, scope, 'parentheses'), at }));
    case 'bool':
      return { type, value: text === 'true', at };
    case 'nil':
      return { type, at };
    default:
      return { type: 'dot', at };
  }
}

function checkFunction(cursor: Cursor, { text, at }: Token): void {
  if (cursor.functions.has(text)) return;
  refuseAt(cursor, at, `there is no function ${text}${suggestion(text, cursor.functions)}`);
}

function suggestion(text: string, candidates: Iterable<string>): string {
  const near = closest(text, candidates);
  return near === undefined || near === text ? '' : `; did you mean ${near}?`;
}

function refuseWhere(cursor: Cursor, at: number, fault: string | undefined): void {
  if (fault !== undefined) refuseAt(cursor, at, fault);
}

export function readString(cursor: Cursor, { text, at }: Token): string {
  const unquoted = unquote(text);
  if ('value' in unquoted) return unquoted.value;
  refuseAt(cursor, at, unquoted.fault);
  return '';
}
