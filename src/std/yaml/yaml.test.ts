import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { formatProblem } from '../problem.ts';
import { readDocuments } from './yaml.ts';

/** Returns the values of all documents, and the problems as users read them. */
function read(text: string): { values: (Json | undefined)[]; problems: string[] } {
  const documents = readDocuments(text, 'a.yaml');
  return {
    values: documents.map(({ value }) => value),
    problems: documents.flatMap(({ problems }) => problems.map(formatProblem)),
  };
}

function place(text: string, pointer: string, at?: 'key' | 'value', document = 0): string {
  const found = readDocuments(text, 'a.yaml')[document]?.place(pointer, at);
  return `${found?.line}:${found?.column}`;
}

describe('scalars have the same meaning as for kubectl', () => {
  test.each([
    { written: '0644', value: 420, reason: 'YAML 1.1 octal' },
    { written: '0o17', value: 15, reason: 'Kubernetes reads both notations of octal' },
    { written: '-0x1F', value: -31, reason: 'signed hexadecimal' },
    { written: '0b11', value: 3, reason: 'binary' },
    { written: '08', value: 8, reason: 'not a valid octal number, so decimal' },
    { written: '1_000', value: 1000, reason: 'underscores are dropped' },
    { written: '_1', value: '_1', reason: 'a leading underscore makes a string' },
    { written: '+1', value: 1, reason: 'a sign is part of a number' },
    { written: '-0', value: 0, reason: 'JSON has no negative zero' },
    { written: '1.', value: 1, reason: 'a fraction may be empty' },
    { written: '.5', value: 0.5, reason: 'the integer part may be empty' },
    { written: '1e3', value: 1000, reason: 'an exponent needs no fraction' },
    { written: '1e400', value: '1e400', reason: 'a number beyond a double is a string' },
    { written: '0x', value: '0x', reason: 'a prefix without digits is a string' },
    { written: 'yes', value: true, reason: 'YAML 1.1 boolean' },
    { written: 'Off', value: false, reason: 'YAML 1.1 boolean' },
    { written: 'y', value: true, reason: 'YAML 1.1 boolean' },
    { written: 'tRue', value: 'tRue', reason: 'mixed case is a string' },
    { written: '~', value: null, reason: 'null' },
    { written: '', value: null, reason: 'null' },
    { written: 'NULL', value: null, reason: 'null' },
    { written: '2001-01-01', value: '2001-01-01', reason: 'dates stay strings' },
    { written: '12:30:45', value: '12:30:45', reason: 'no sexagesimal numbers' },
    { written: '"0644"', value: '0644', reason: 'quoted text is a string' },
    { written: "'yes'", value: 'yes', reason: 'quoted text is a string' },
    { written: '!!str 5', value: '5', reason: 'a tag decides' },
    { written: "!!int '5'", value: 5, reason: 'a tag decides' },
    { written: '! 5', value: '5', reason: 'the non-specific tag means string' },
    { written: '!!binary aGk=', value: 'hi', reason: 'base64 is decoded' },
    { written: '!vault x', value: 'x', reason: 'a foreign tag is ignored' },
  ])('$written is $value: $reason', ({ written, value }) => {
    expect(read(`a: ${written}\n`)).toEqual({ values: [{ a: value }], problems: [] });
  });

  test('keys become strings', () => {
    expect(read('yes: 1\n1: 2\n0x10: 3\n').values).toEqual([{ true: 1, 1: 2, 16: 3 }]);
  });

  test('refuses a key named __proto__, which would be lost', () => {
    const [document] = readDocuments('data: {__proto__: 1}\n', 'a.yaml');
    expect(document?.problems.map(({ code, pointer }) => [code, pointer])).toEqual([
      ['yaml-key-reserved', '/data/__proto__'],
    ]);
  });
});

describe('documents', () => {
  test('skips empty documents, comments and a byte order mark', () => {
    expect(read('\ufeff# first\n---\na: 1\r\n---\n---\n# none\n---\nnull\n---\nb: 2\n')).toEqual({
      values: [{ a: 1 }, { b: 2 }],
      problems: [],
    });
  });

  test('reads JSON, also with tabs as indentation', () => {
    expect(read('{\n\t"a": 1,\n\t"b": [true,\n\t\tnull]\n}\n').values).toEqual([{ a: 1, b: [true, null] }]);
  });

  test('expands aliases, and prefers own keys to merged keys', () => {
    expect(read('base: &b {a: 1, b: [x]}\nuse:\n  <<: *b\n  a: 2\nagain: *b\n').values).toEqual([
      { base: { a: 1, b: ['x'] }, use: { a: 2, b: ['x'] }, again: { a: 1, b: ['x'] } },
    ]);
  });

  test('prefers the first of several merged mappings', () => {
    expect(read('<<: [{a: 1}, {a: 2, b: 3}]\n').values).toEqual([{ a: 1, b: 3 }]);
  });
});

describe('reports everything that Kubernetes would refuse, with its place', () => {
  test.each([
    {
      reason: 'a duplicate key',
      text: 'a: 1\nb:\n  c: 1\n  c: 2\n',
      problem: 'a.yaml:4:3: error yaml-duplicate-key: The key "c" is set twice in this mapping.',
    },
    {
      reason: 'two spellings of one key',
      text: "'1': a\n1: b\n",
      problem: 'a.yaml:2:1: error yaml-duplicate-key: The key "1" is set twice in this mapping.',
    },
    {
      reason: 'a merge that sets a key again',
      text: 'a: 1\n<<: {a: 2}\n',
      problem:
        'a.yaml:2:1: error yaml-duplicate-key: The key "a" is set before << sets it again, and readers differ on which counts: put << first.',
    },
    {
      reason: 'broken indentation',
      text: 'a: b\n  c: d\n',
      problem: /^a\.yaml:1:4: error yaml-syntax: This value needs quotes if it is a text with ": "/,
    },
    {
      reason: 'a tab',
      text: 'a:\n\t- b\n',
      problem: 'a.yaml:2:1: error yaml-syntax: Tabs are not allowed as indentation.',
    },
    {
      reason: 'an unknown alias',
      text: 'a: *nowhere\n',
      problem:
        'a.yaml:1:4: error yaml-syntax: This alias has no anchor before it: a text that begins with * needs quotes.',
    },
    {
      reason: 'a value that JSON cannot hold',
      text: 'a: .nan\n',
      problem: 'a.yaml:1:4: error yaml-syntax: .nan is not allowed in JSON; write a finite number or a string.',
    },
    {
      reason: 'a list as key',
      text: '? [a]\n: 1\n',
      problem: 'a.yaml:1:3: error yaml-syntax: A key must be a string, a number or a boolean.',
    },
    {
      reason: 'another version of YAML',
      text: '%YAML 1.2\n---\na: 1\n',
      problem: 'a.yaml:2:1: error yaml-syntax: Kubernetes reads YAML 1.1, not 1.2: remove the %YAML directive.',
    },
    {
      reason: 'an integer beyond 2^53',
      text: 'a: 9007199254740993\n',
      problem:
        'a.yaml:1:4: error yaml-integer-precision: An integer beyond 2^53 would be rounded on its way: quote it, or write a smaller one.',
    },
    {
      reason: 'an anchor inside itself',
      text: 'a: &x [*x]\n',
      problem: 'a.yaml:1:8: error yaml-alias-bomb: The anchor &x contains itself.',
    },
    {
      reason: 'nesting without end',
      text: '['.repeat(100_000),
      problem: /^a\.yaml:1:\d+: error yaml-syntax: The document is nested too deeply to be read\.$/,
    },
    {
      reason: 'too many values for the memory',
      text: `a: &x [${'[],'.repeat(300_000)}]`,
      problem: /^a\.yaml:1:1: error yaml-syntax: The file has more values and marks than can be read at once: split it/,
    },
  ])('$reason', ({ text, problem }) => {
    const { problems } = read(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  test('refuses an alias bomb before it is expanded', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh', 'hi']) {
      lines.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(', ')}]`);
    }
    expect(read(lines.join('\n')).problems).toEqual([expect.stringContaining('yaml-alias-bomb')]);
  });

  test('returns the value and all problems if parts of the value are wrong', () => {
    const { values, problems } = read('a: .inf\nb: 1\nb: 2\nc: !!int x\n');
    expect(values).toEqual([{ a: null, b: 2, c: null }]);
    expect(problems).toHaveLength(3);
  });

  test('reports one problem of a broken document, and reads the other documents', () => {
    const { values, problems } = read('a: 1\n---\nb: [1, 2\nc: }\n---\nd: 4\n');
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('a.yaml:4:1: error yaml-syntax');
    expect(values).toEqual([{ a: 1 }, undefined, { d: 4 }]);
  });
});

describe('places in a text that is YAML itself', () => {
  const text =
    'a:\n  b: |\n    # first\n    c:\n      - d: 1\n        e: 2\n  f: "g: 1\\nh: 2"\n  i: |2\n      j: 3\n  k: >\n    l: 4\n';
  test.each([
    { pointer: '/a/b', found: '2:6', reason: 'the text itself' },
    { pointer: '/a/b/c/0/e', found: '6:12', reason: 'a value in it' },
    { pointer: '/a/b/c/0/e', at: 'key' as const, found: '6:9', reason: 'a key in it' },
    { pointer: '/a/b/c/0/x', found: '5:9', reason: 'the nearest enclosing value of a missing value' },
    {
      pointer: '/a/f/h',
      found: '7:3',
      reason: 'the key of a quoted text, whose lines differ from the lines of the source',
    },
    { pointer: '/a/i/j', found: '9:10', reason: 'blanks that are part of the text' },
    { pointer: '/a/k/l', found: '10:3', reason: 'the key of a folded text' },
  ])('$reason', ({ pointer, at, found }) => {
    expect(place(text, pointer, at)).toBe(found);
  });
});

describe('places', () => {
  const TWO = 'a: 1\n---\nspec:\n  image: x\n  env:\n    - name: A\n      value:\n    - {name: B}\n';

  test.each([
    { pointer: '', at: 'value', found: '3:1', reason: 'the document itself' },
    { pointer: '/spec/image', at: 'value', found: '4:10', reason: 'a value' },
    { pointer: '/spec/image', at: 'key', found: '4:3', reason: 'a key' },
    { pointer: '/spec/env/1/name', at: 'value', found: '8:14', reason: 'inside a list, flow style' },
    { pointer: '/spec/env/0', at: 'value', found: '6:7', reason: 'an item' },
    { pointer: '/spec/env/0/value', at: 'value', found: '7:7', reason: 'a value that is not written: its key' },
    { pointer: '/spec/absent', at: 'value', found: '3:1', reason: 'a missing field: the enclosing key' },
    { pointer: '/spec/env/7/name', at: 'value', found: '5:3', reason: 'a missing item: the key of the list' },
    { pointer: '/absent/deep', at: 'value', found: '3:1', reason: 'a missing top-level field: the document' },
  ] as const)('$pointer ($at) is at $found: $reason', ({ pointer, at, found }) => {
    expect(place(TWO, pointer, at, 1)).toBe(found);
  });

  test('are in the anchored value for a pointer through an alias', () => {
    expect(place('base: &b\n  a: 1\nuse: *b\n', '/use/a')).toBe('2:6');
  });

  test('are in merged mappings unless the mapping has an own key', () => {
    const text = 'base: &b {a: 1, b: 2}\nuse:\n  <<: *b\n  a: 3\n';
    expect(place(text, '/use/b')).toBe('1:20');
    expect(place(text, '/use/a')).toBe('4:6');
  });

  test('are found by the value of a key, such as true for yes', () => {
    expect(place('yes: 1\n', '/true')).toBe('1:6');
  });

  test('are found by escaped pointers', () => {
    expect(place('a/b:\n  c~d: 1\n', '/a~1b/c~0d', 'key')).toBe('2:3');
  });
});
