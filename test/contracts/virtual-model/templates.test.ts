// Tests that templates are accepted and refused as by text/template of Go 1.26 (with the functions json, quote and
// fromJson). If we refuse a template, the place of the fault is inside it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseTemplate } from '#contracts/virtual-model/template/parse.ts';
import { readsOf } from '#contracts/virtual-model/template/reads.ts';

const VERDICTS: readonly (readonly [string, boolean])[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'go-templates.json'), 'utf8'),
);

describe('Go', () => {
  it.each(VERDICTS)('%j is accepted: %j', (text, accepted) => {
    const parsed = parseTemplate(text);
    expect('template' in parsed).toBe(accepted);
    if (!('fault' in parsed)) return;
    expect(parsed.fault.at).toBeGreaterThanOrEqual(0);
    expect(parsed.fault.at).toBeLessThanOrEqual(text.length);
  });
});

/** Each `^` is under the place of the fault. */
const FAULTS: readonly (readonly [text: string, place: string, message: string])[] = [
  ['{{.a | upper}}', '       ^', 'there is no function upper'],
  ['{{prinf .a}}', '  ^', 'there is no function prinf; did you mean print?'],
  ['{{.a == 1}}', '     ^', 'expected a blank before the next value, not ='],
  ['{{$items := 1}}{{$item}}', '                 ^', 'the variable $item is not declared; did you mean $items?'],
  ['{{if .a}}b', '          ^', '{{end}} is missing'],
  ['{{if .a}}b{{end}}{{else}}', '                 ^', '{{else}} belongs to nothing'],
  ['{{.a', '    ^', 'the action is not closed: }} is missing'],
  ['{{(.a}}', '     ^', 'a parenthesis is not closed'],
  ['{{"a}}', '  ^', 'the string is not closed: " is missing'],
  ['{{eq .a 0x}}', '        ^', '"0x" is not a number'],
  ['{{18446744073709551616}}', '  ^', '18446744073709551616 does not fit in 64 bits'],
  ['{{.a-b}}', '    ^', 'a name must not be followed by "-": put a blank between'],
  ['{{break}}', '^', '{{break}} must be inside a {{range}}'],
  ['{{if .a}}{{define "b"}}{{end}}{{end}}', '           ^', 'define may only stand at the outermost level'],
];

it.each(FAULTS)('%j: the fault and its place', (text, place, message) => {
  expect(parseTemplate(text)).toEqual({ fault: { message, at: place.indexOf('^') } });
});

it('refuses templates that are nested too deeply', () => {
  const deep = (levels: number) => `{{${'('.repeat(levels)}1${')'.repeat(levels)}}}`;
  expect(parseTemplate(deep(500))).toHaveProperty('template');
  expect(parseTemplate(deep(501))).toHaveProperty('fault.message', 'nested deeper than 500 levels');
  const chain = `{{if .a}}${'{{else if .a}}'.repeat(10_000)}{{end}}`;
  expect(parseTemplate(chain)).toHaveProperty('fault.message', 'nested deeper than 500 levels');
});

/** The paths that a template reads, in order. */
const READS: readonly (readonly [text: string, reads: readonly string[], reason: string])[] = [
  ['{{.steps.a.output.x}} {{.params.y}}', ['steps.a.output.x', 'params.y'], 'fields'],
  ['{{index .steps "a-b" "output" "x"}}', ['steps', 'steps.a-b.output.x'], 'index by literals'],
  ['{{(index .steps "a-b").output.x}}', ['steps', 'steps.a-b', 'steps.a-b.output.x'], 'fields of the result of index'],
  ['{{index .steps .params.id "output"}}', ['steps', 'params.id', 'steps'], 'index by an unknown key'],
  ['{{"output" | index .steps.a}}', ['steps.a', 'steps.a.output'], 'the last argument comes through the pipe'],
  ['{{.steps.a | json | index}}', ['steps.a'], 'index of an unknown value'],
  [
    '{{with .steps.a.output}}{{.x}}{{$.params.y}}{{else}}{{.z}}{{end}}',
    ['steps.a.output', 'steps.a.output.x', 'params.y', 'z'],
    'with',
  ],
  ['{{$s := .steps.a}}{{$s.output.x}}', ['steps.a', 'steps.a.output.x'], 'variables'],
  [
    '{{$s := .a}}{{if $s := .b}}{{$s.x}}{{end}}{{$s.x}}',
    ['a', 'b', 'b.x', 'a.x'],
    'variables end with what declares them',
  ],
  [
    '{{range .steps.a.output.items}}{{.title}}{{$.params.y}}{{end}}',
    ['steps.a.output.items', 'params.y'],
    'items are not known',
  ],
  ['{{range $i, $x := .a}}{{$x.title}}{{end}}', ['a'], 'nor are they as variables'],
  [
    '{{define "p"}}{{.x}}{{$.y}}{{template "p" .z}}{{end}}{{template "p" .a}}',
    ['a', 'a.x', 'a.y', 'a.z'],
    'called templates',
  ],
  ['{{block "p" .a}}{{.x}}{{end}}', ['a', 'a.x'], 'blocks'],
  ['{{define "p"}}{{.x}}{{end}}{{template "p"}}', [], 'called with nothing'],
  ['{{define "p"}}{{.x}}{{end}}', [], 'never called'],
  ['{{range .a}}{{break}}{{continue}}{{end}}{{true}}{{nil | json}}{{1}}', ['a'], 'parts that read nothing'],
  ['{{.a | .b}}', ['a', 'b'], 'a method gets the value before the pipe'],
  ['{{.a.f .b}}', ['a.f', 'b'], 'a method with arguments'],
  ['{{json .}}{{(.a).b}}', ['', 'a', 'a.b'], 'the whole, and parentheses'],
];

it.each(READS)('%j reads %j: %s', (text, reads) => {
  const parsed = parseTemplate(text);
  const found = 'template' in parsed ? readsOf(parsed.template).values : undefined;
  expect(found?.map(({ path }) => path.join('.'))).toEqual(reads);
});

it('stops walking templates that call one another too often', () => {
  const definition = (level: number) => {
    const call = (field: string) => `{{template "t${level + 1}" .${field}}}`;
    return `{{define "t${level}"}}${call('a')}${call('b')}{{end}}`;
  };
  const text = `${Array.from({ length: 40 }, (_, level) => definition(level)).join('')}{{define "t40"}}{{end}}{{template "t0" .}}`;
  const parsed = parseTemplate(text);
  const found = 'template' in parsed ? readsOf(parsed.template).values : [];
  expect(found.length).toBeGreaterThan(40);
  expect(found.length).toBeLessThan(1000);
});

it('records calls of undefined templates', () => {
  const parsed = parseTemplate('{{define "a"}}{{template "c"}}{{end}}{{template "a"}}{{template "b" .}}');
  const calls = 'template' in parsed ? readsOf(parsed.template).undefinedCalls : undefined;
  expect(calls).toEqual([
    { name: 'c', at: 14 },
    { name: 'b', at: 53 },
  ]);
});
