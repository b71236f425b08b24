// Generates templates and data to compare our engine with Go's: the same in every run. In one file, because it is one
// list of cases.

import type { Json, JsonObject } from '#std/json.ts';

export type Case = readonly [template: string, data: JsonObject];

interface Dice {
  /** Returns a whole number below `end`. */
  below(end: number): number;
  one<T>(of: readonly T[]): T;
  chance(share: number): boolean;
}

/** mulberry32 */
function dice(seed: number): Dice {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (end: number) => Math.floor(next() * end);
  return { below, one: (of) => of[below(of.length)] as never, chance: (share) => next() < share };
}

/** Returns the case of a seed, a whole number. */
export function generateCase(seed: number): Case {
  const die = dice(seed);
  const data = dataOf(die);
  return [templateOf(die, { depth: 0, variables: [], dot: 'root' }), data];
}

const NUMBERS = [0, 1, 2, 3, -1, 7, 42, 100, 999_999, 1_000_000, 1_234_567, 9_007_199_254_740_991, -5_000_000];
const FRACTIONS = [0.5, 1.5, -2.25, 8.125, 1234567.5, 0.00001, 1e21, 2.5e-7, 99.995];
const TEXTS = [
  '',
  'a',
  'b',
  'hello',
  'Hello World',
  'é',
  '日本',
  'a"b',
  "it's",
  '<b>&</b>',
  'x\ny',
  'true',
  '3',
  '1e3',
  '{"k":[1,2.5,"z"]}',
  '[1,2,3]',
  '😀',
  '\\',
  '\t',
  '%d',
  ' a ',
];

function scalar(die: Dice): Json {
  const kind = die.below(10);
  if (kind < 3) return die.one(NUMBERS);
  if (kind < 4) return die.one(FRACTIONS);
  if (kind < 8) return die.one(TEXTS);
  return kind < 9 ? die.chance(0.5) : null;
}

const KEYS = ['a', 'b', 'c', 'name', 'k-1', 'Z', 'é'];

function nested(die: Dice, depth: number): Json {
  const kind = die.below(4);
  if (depth > 2 || kind < 2) return scalar(die);
  if (kind === 2) return Array.from({ length: die.below(4) }, () => nested(die, depth + 1));
  return Object.fromEntries(Array.from({ length: die.below(4) }, () => [die.one(KEYS), nested(die, depth + 1)]));
}

function dataOf(die: Dice): JsonObject {
  return {
    params: {
      n: die.one(NUMBERS),
      m: die.one(NUMBERS),
      f: die.one(FRACTIONS),
      s: die.one(TEXTS),
      t: die.one(TEXTS),
      yes: die.chance(0.5),
      nothing: null,
      list: Array.from({ length: die.below(4) }, () => nested(die, 1)),
      map: { a: nested(die, 1), b: nested(die, 1), 'k-1': scalar(die) },
      doc: die.one(['{"k":[1,2.5,"z"],"n":1000000}', '[3,"x",null,{"a":true}]', '"text"', '12', 'no json', '']),
    },
    steps: {
      one: {
        status: 'completed',
        output: { text: die.one(TEXTS), items: [1, 2, 3].slice(die.below(4)), deep: nested(die, 0) },
      },
      'two-b': { status: die.one(['completed', 'failed', 'skipped']), output: { ok: die.chance(0.5) } },
    },
    any: nested(die, 0),
  };
}

interface Scope {
  readonly depth: number;
  readonly variables: readonly string[];
  readonly dot: 'root' | 'item';
}

const PATHS = [
  ...[
    '.params.n',
    '.params.m',
    '.params.s',
    '.params.t',
    '.params.yes',
    '.steps.one.status',
    '.steps.one.output.items',
  ],
  ...[
    '.params.n',
    '.params.m',
    '.params.f',
    '.params.s',
    '.params.t',
    '.params.yes',
    '.params.nothing',
    '.params.list',
  ],
  ...[
    '.params.map',
    '.params.map.a',
    '.params.map.b',
    '.params.doc',
    '.steps.one.output.text',
    '.steps.one.output.items',
  ],
  ...[
    '.steps.one.output.deep',
    '.steps.one.status',
    '.any',
    '.any.a',
    '.missing',
    '.params.missing',
    '.params.missing.deep',
  ],
  ...['.params.nothing.x', '.params.s.x', '.params.map.a.b', '.steps.one.output.deep.name'],
];

const LITERALS = [
  '1',
  '3',
  '0',
  '-2',
  '3.0',
  '1.5',
  '1e3',
  '0x10',
  "'a'",
  '"a"',
  '"hello"',
  '`raw"`',
  '"%v"',
  'true',
  'false',
  '""',
  '"3"',
];

function operand(die: Dice, scope: Scope): string {
  const kind = die.below(12);
  if (kind < 2) return die.one(LITERALS);
  if (kind < 3) return scope.dot === 'item' ? die.one(['.', '.a', '.name']) : '.';
  if (kind < 5 && scope.variables.length > 0) return die.one(scope.variables) + (die.chance(0.2) ? '.a' : '');
  if (kind < 8 && scope.depth < 3)
    return `(${pipeline(die, { ...scope, depth: scope.depth + 1 })})${die.chance(0.1) ? '.a' : ''}`;
  if (kind === 8) return die.one(['nil', '$', '$.params.n']);
  return (scope.dot === 'item' || die.chance(0.1) ? '$' : '') + die.one(PATHS);
}

function text(die: Dice, scope: Scope): string {
  const root = scope.dot === 'item' ? '$' : '';
  return die.one([
    `${root}.params.s`,
    `${root}.params.t`,
    `${root}.params.doc`,
    '"x<y"',
    `${root}.steps.one.output.text`,
    `(json ${operand(die, { ...scope, depth: 3 })})`,
  ]);
}

function number(die: Dice, scope: Scope): string {
  const root = scope.dot === 'item' ? '$' : '';
  return die.one([
    `${root}.params.n`,
    `${root}.params.m`,
    `${root}.params.f`,
    '3',
    '12',
    '-7',
    '2.5',
    `(len ${root}.params.list)`,
  ]);
}

const FORMATS = [
  '%v',
  '%5v|',
  '%-5v|',
  '%s',
  '%q',
  '%8s|',
  '%-8s|',
  '%.2s',
  '%+q',
  '%T',
  '%t',
  '%v and %v',
  '%%',
  '%s %v',
  '%!',
  '%',
  '%z',
  '%05s',
];
const WHOLE = [
  '%d',
  '%5d|',
  '%-5d|',
  '%05d',
  '%+d',
  '% d',
  '%x',
  '%X',
  '%#x',
  '%o',
  '%#o',
  '%O',
  '%b',
  '%c',
  '%.3d',
  '%6.3d|',
  '%v',
  '%U',
  '%q',
  '%s',
];
const FRACTION = [
  '%v',
  '%f',
  '%.2f',
  '%8.3f|',
  '%-8.1f|',
  '%08.2f',
  '%e',
  '%.3e',
  '%g',
  '%.4g',
  '%+.1f',
  '%E',
  '%G',
  '% .2f',
  '%t',
];

function command(die: Dice, scope: Scope): string {
  const any = () => operand(die, scope);
  const root = scope.dot === 'item' ? '$' : '';
  switch (die.below(22)) {
    case 0:
      return `${die.one(['and', 'or'])} ${any()} ${any()}${die.chance(0.3) ? ` ${any()}` : ''}`;
    case 1:
      return `not ${any()}`;
    case 2:
      return `len ${any()}`;
    case 3:
      return `index ${any()} ${die.one(['0', '1', '"a"', '"k-1"', any()])}`;
    case 4:
      return `index ${scope.dot === 'item' ? '$' : ''}.steps "two-b" "output" ${die.one(['"ok"', '"no"'])}`;
    case 5:
      return `slice ${die.one([text(die, scope), any()])} ${die.below(3)}${die.chance(0.5) ? ` ${die.below(4)}` : ''}`;
    case 6:
      return `${die.one(['print', 'println'])} ${Array.from({ length: die.below(4) }, any).join(' ')}`;
    case 7:
      return `printf ${JSON.stringify(die.one(FORMATS))} ${Array.from({ length: die.below(3) }, any).join(' ')}`;
    case 8:
      return `printf ${JSON.stringify(die.one(WHOLE))} ${die.one([`${root}.params.n`, `${root}.params.m`, '42', '-7'])}`;
    case 9:
      return `printf ${JSON.stringify(die.one(FRACTION))} ${die.one([`${root}.params.f`, '2.5', '-0.125', '1234.5678'])}`;
    case 10:
      return `${die.one(['html', 'js', 'urlquery'])} ${any()}`;
    case 11:
      return `${die.one(['eq', 'ne'])} ${any()} ${any()}`;
    case 12:
      return `eq ${any()} ${any()} ${any()}`;
    case 13:
      return `${die.one(['lt', 'le', 'gt', 'ge', 'eq'])} ${number(die, scope)} ${number(die, scope)}`;
    case 14:
      return `${die.one(['lt', 'le', 'gt', 'ge', 'eq', 'ne'])} ${text(die, scope)} ${text(die, scope)}`;
    case 15:
      return `json ${any()}`;
    case 16:
      return `${die.one(['quote', 'printf "%x"', 'printf "% X"', 'printf "%.3q"'])} ${text(die, scope)}`;
    case 17:
      return `fromJson ${text(die, scope)}`;
    default:
      return any();
  }
}

function pipeline(die: Dice, scope: Scope): string {
  const first = command(die, scope);
  if (!die.chance(0.25)) return first;
  const more = die.one([
    'json',
    'quote',
    'len',
    'not',
    'print',
    'printf "%v"',
    'printf "%s-%v" "p"',
    'html',
    'js',
    'eq 3',
    'index .',
    'or false',
    'and true',
    'fromJson',
    'println',
    'urlquery',
  ]);
  return `${first} | ${more}`;
}

function trimmed(die: Dice, inside: string): string {
  return `{{${die.chance(0.1) ? '- ' : ''}${inside}${die.chance(0.1) ? ' -' : ''}}}`;
}

function templateOf(die: Dice, scope: Scope): string {
  let text = '';
  const variables = [...scope.variables];
  for (let left = scope.depth === 0 ? 1 + die.below(2) : 1; left > 0; left -= 1) {
    text += die.one(['', ' ', 'x ', '\n', 'é: ', '']);
    text += part(die, { ...scope, variables });
    if (scope.depth < 3 && die.chance(0.15)) {
      const name = die.one(['$x', '$y']);
      const known = variables.includes(name);
      text += trimmed(
        die,
        `${name} ${known && die.chance(0.5) ? '=' : ':='} ${pipeline(die, { ...scope, variables })}`,
      );
      if (!known) variables.push(name);
    }
  }
  return text;
}

function part(die: Dice, scope: Scope): string {
  const inner = { ...scope, depth: scope.depth + 1 };
  const kind = scope.depth > 2 ? 0 : die.below(9);
  const otherwise = die.chance(0.4) ? `{{else}}${templateOf(die, inner)}` : '';
  switch (kind) {
    case 5:
      return `${trimmed(die, `if ${pipeline(die, scope)}`)}${templateOf(die, inner)}${die.chance(0.2) ? `{{else if ${pipeline(die, scope)}}}B` : ''}${otherwise}{{end}}`;
    case 6:
      return `${trimmed(die, `with ${pipeline(die, scope)}`)}${templateOf(die, { ...inner, dot: 'item' })}${otherwise}{{end}}`;
    case 7:
    case 8:
      return loop(die, scope, otherwise);
    default:
      return trimmed(die, pipeline(die, scope));
  }
}

function loop(die: Dice, scope: Scope, otherwise: string): string {
  const root = scope.dot === 'item' ? '$' : '';
  const over = die.one([
    `${root}.params.list`,
    `${root}.params.map`,
    `${root}.steps.one.output.items`,
    `${root}.params.map`,
    '3',
    '0',
    `${root}.params.missing`,
    `${root}.params.s`,
    '(fromJson `[1,{"a":2},"z"]`)',
  ]);
  const declared = die.one([[], ['$v'], ['$i', '$v']]);
  const head = declared.length === 0 ? `range ${over}` : `range ${declared.join(', ')} := ${over}`;
  const inner: Scope = {
    depth: scope.depth + 1,
    variables: [...scope.variables, ...declared],
    dot: 'item',
  };
  const jump = die.chance(0.2)
    ? `{{if ${die.one(declared.length > 0 ? ['$v', 'true', '.'] : ['.', 'true'])}}}{{${die.one(['break', 'continue'])}}}{{end}}`
    : '';
  return `{{${head}}}${templateOf(die, inner)}${jump},${otherwise}{{end}}`;
}
