// Generates random ambiguous bodies from a seed: duplicate keys, keys in other case or with escapes, unusual ids and
// numbers, and broken bytes. In one file, because it is one generator whose functions call each other.

/** Returns an integer from 0 to `below` - 1. Equal seeds lead to equal sequences (mulberry32). */
export type Random = (below: number) => number;

export function seeded(seed: number): Random {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
}

function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[random(values.length)];
  if (value === undefined) throw new RangeError('nothing to pick from');
  return value;
}

const METHODS = [
  'tools/call',
  'tools/call',
  'tools/call',
  'prompts/get',
  'resources/read',
  'resources/subscribe',
  'completion/complete',
  'tools/list',
  'initialize',
  'notifications/progress',
  'notifications/cancelled',
  'tasks/get',
  'acme/do',
  'ping',
];

const NAMES = ['safe', 'drop', 'größe', '😀', '', 'a b', 'x/y', '\u2028', 'k\u212a', 'null'];

const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '1.0',
  '1.5',
  '1e3',
  '1E400',
  '-1e-400',
  '9007199254740993',
  '18446744073709551616',
  '123456789012345678901234567890',
  '01',
  '+1',
  '.5',
  '1.',
  '1e',
  '0x10',
  'NaN',
  '-',
  '1_000',
];

/** Number of entries of NUMBERS, from the first, that are valid JSON. */
const JSON_NUMBERS = 12;

const ODD_STRINGS = [
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\ud83d\\ude00"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\x41"',
  '"\\u12"',
  '"\t"',
  '"\\/"',
  '"\u007f"',
  '"',
  '""',
  '"\\\\"',
  '"\\\\\\""',
  '"unterminated',
  "'single'",
];

/** Returns a key or text as JSON. If hostile, in another case, with escapes, or with letters that fold to ASCII. */
function spelled(random: Random, text: string, hostile: boolean): string {
  const style = hostile ? random(9) : 0;
  if (style === 1) return JSON.stringify(text.toUpperCase());
  if (style === 2) return JSON.stringify(text.charAt(0).toUpperCase() + text.slice(1));
  if (style === 3) return JSON.stringify(text.replace('s', '\u017f').replace('k', '\u212a'));
  if (style === 4) return JSON.stringify(text.replace('i', '\u0131'));
  if (style === 5) return `"${escapeAll(text)}"`;
  if (style === 6) return `"${escapeAll(text.toUpperCase())}"`;
  if (style === 7) return JSON.stringify(text).replace('/', '\\/');
  if (style === 8) return `"${text}\\u0000"`;
  return JSON.stringify(text);
}

function escapeAll(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

function space(random: Random): string {
  return random(6) === 0 ? pick(random, [' ', '\n', '\t', '\r\n', '  ']) : '';
}

type Member = readonly [string, string];

/**
 * Returns an object with its members in random order. `hostility` is the percentage of changed or duplicate members.
 */
function objectOf(random: Random, members: readonly Member[], hostility: number): string {
  const hostile = () => random(100) < hostility;
  const list = members.filter(() => random(40) !== 0);
  for (const [key] of members) {
    if (hostile()) list.splice(random(list.length + 1), 0, [key, anyValue(random, 2)]);
  }
  if (random(3) === 0)
    list.splice(random(list.length + 1), 0, [pick(random, ['extra', 'x', 'größe', 'cursor']), anyValue(random, 2)]);
  if (random(4) === 0) list.reverse();
  const texts = list.map(([key, value]) => {
    return `${space(random)}${spelled(random, key, hostile())}${space(random)}:${space(random)}${value}${space(random)}`;
  });
  return `{${texts.join(',')}}`;
}

/** Returns a number, usually valid JSON. */
function numberOf(random: Random): string {
  return pick(random, random(40) === 0 ? NUMBERS : NUMBERS.slice(0, JSON_NUMBERS));
}

function anyValue(random: Random, depth: number): string {
  switch (random(depth === 0 ? 5 : 8)) {
    case 0:
      return JSON.stringify(pick(random, NAMES));
    case 1:
      return numberOf(random);
    case 2:
      return pick(random, ['true', 'false', 'null']);
    case 3:
      return pick(random, random(12) === 0 ? ODD_STRINGS : ['"a"', '"\\u0041"', '"é"']);
    case 4:
      return JSON.stringify(pick(random, NAMES));
    case 5:
      return `[${Array.from({ length: random(4) }, () => anyValue(random, depth - 1)).join(',')}]`;
    case 6:
      return nested(random(40) === 0 ? 300 : 3);
    default:
      return objectOf(
        random,
        [
          ['name', anyValue(random, depth - 1)],
          ['a', anyValue(random, depth - 1)],
        ],
        25,
      );
  }
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

const VENDOR = 'io.modelcontextprotocol/';

function paramsOf(random: Random, hostility: number): string {
  const text = () => (random(20) === 0 ? anyValue(random, 1) : spelledText(random, pick(random, NAMES)));
  const ref: Member[] = [
    ['type', pick(random, ['"ref/prompt"', '"ref\\/resource"', '"ref/x"'])],
    ['name', text()],
    ['uri', text()],
  ];
  const meta: Member[] = [
    ['progressToken', pick(random, ['1', '"t"', '"\\u0074"', '1.5', 'null'])],
    [`${VENDOR}protocolVersion`, pick(random, ['"2026-07-28"', '"2025-11-25"', '"2026-07-2\\u0038"', '1'])],
    ['traceparent', text()],
    ['com.example/x', anyValue(random, 1)],
  ];
  const members: Member[] = [
    ['name', text()],
    ['uri', text()],
    ['taskId', text()],
    ['ref', objectOf(random, ref, hostility)],
    ['requestId', idOf(random)],
    ['progressToken', idOf(random)],
    [
      'arguments',
      objectOf(
        random,
        [
          ['name', anyValue(random, 2)],
          ['path', anyValue(random, 2)],
          ['n', numberOf(random)],
        ],
        20,
      ),
    ],
    ['_meta', objectOf(random, meta, hostility)],
  ];
  return objectOf(
    random,
    members.filter(([key]) => random(4) !== 0 || key === 'name' || key === 'uri'),
    hostility,
  );
}

/** Returns the text as JSON, with or without escapes. */
function spelledText(random: Random, text: string): string {
  return random(5) === 0 ? `"${escapeAll(text)}"` : JSON.stringify(text);
}

function idOf(random: Random): string {
  return pick(random, [
    '1',
    '7',
    '"a"',
    '"\\u0061"',
    '9007199254740993',
    '-3',
    random(20) === 0 ? pick(random, NUMBERS) : '2',
    random(8) === 0 ? pick(random, ['null', '{}', '"\\ud800"', 'true']) : '"b"',
  ]);
}

function messageOf(random: Random): string {
  const hostility = pick(random, [0, 0, 0, 3, 20]);
  const members: Member[] = [['jsonrpc', random(40) === 0 ? pick(random, ['"1.0"', '2.0', '"2\\u002e0"']) : '"2.0"']];
  const kind = random(10);
  if (kind === 0) {
    members.push(
      ['id', idOf(random)],
      [
        pick(random, ['result', 'error']),
        objectOf(
          random,
          [
            ['code', '1'],
            ['x', anyValue(random, 2)],
          ],
          0,
        ),
      ],
    );
    return objectOf(random, members, hostility);
  }
  const method = pick(random, METHODS);
  if (!method.startsWith('notifications/') || random(20) === 0) members.push(['id', idOf(random)]);
  members.push(['method', spelledText(random, method)]);
  if (random(15) !== 0) members.push(['params', random(30) === 0 ? anyValue(random, 1) : paramsOf(random, hostility)]);
  return objectOf(random, members, hostility);
}

/** Returns the bytes, sometimes damaged. */
function broken(random: Random, body: Buffer): Buffer {
  const at = random(body.length + 1);
  const insert = (bytes: Buffer) => Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]);
  switch (random(40)) {
    case 0:
      return body.subarray(0, at);
    case 1:
      return insert(
        pick(random, [
          Buffer.of(0xff),
          Buffer.of(0xc0, 0xaf),
          Buffer.of(0xed, 0xa0, 0x80),
          Buffer.of(0xe2, 0x82),
          Buffer.of(0),
        ]),
      );
    case 2:
      return Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), body]);
    case 3:
      return Buffer.concat([body, Buffer.from(pick(random, ['{}', '\0', ']', ' x', '//', '\u00a0']))]);
    case 4:
      return Buffer.concat([Buffer.from('['), body, Buffer.from(']')]);
    case 5: {
      const changed = Buffer.from(body);
      if (changed.length > 0)
        changed[at % changed.length] = pick(random, [0x22, 0x5c, 0x7b, 0x7d, 0x2c, 0x3a, 0x20, 0x00, 0x30, 0xc3]);
      return changed;
    }
    case 6:
      return insert(Buffer.from(pick(random, [',', '"', '\\', ' ', '{', '}', ':', '\n', '0'])));
    default:
      return body;
  }
}

export function hostileBody(random: Random): Buffer {
  return broken(random, Buffer.from(messageOf(random)));
}
