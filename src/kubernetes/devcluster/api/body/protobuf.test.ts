import { expect, test } from 'vitest';
import { readProtobuf } from './protobuf.ts';

/** Encodes a length-delimited field. */
function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([number * 8 + 2, ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function entry(key: string, value: string): Buffer {
  return Buffer.concat([field(1, key), field(2, value)]);
}

function message(kind: string, raw: Buffer): Buffer {
  const meta = Buffer.concat([field(1, 'v1'), field(2, kind)]);
  return Buffer.concat([Buffer.from('k8s\0'), field(1, meta), field(2, raw), field(3, ''), field(4, '')]);
}

const NAMED = Buffer.concat([
  field(1, 'one'),
  field(2, ''),
  field(3, 'n'),
  field(11, entry('app', 'x')),
  field(14, 'a/b'),
]);

test('a ConfigMap is read with its metadata, data and flags', () => {
  const long = 'x'.repeat(300);
  const raw = Buffer.concat([
    field(1, NAMED),
    field(2, entry('a', long)),
    field(2, entry('b', '')),
    Buffer.from([4 * 8, 1]),
  ]);
  expect(readProtobuf(message('ConfigMap', raw))).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'one', namespace: 'n', labels: { app: 'x' }, finalizers: ['a/b'] },
    data: { a: long, b: '' },
    immutable: true,
  });
});

test('the data of a Secret becomes base64', () => {
  const raw = Buffer.concat([field(1, NAMED), field(2, entry('token', 'hunter2')), field(3, 'Opaque')]);
  expect(readProtobuf(message('Secret', raw))).toMatchObject({ data: { token: 'aHVudGVyMg==' }, type: 'Opaque' });
});

test('unknown fields are skipped, whatever their wire type', () => {
  const others = Buffer.from([20 * 8 - 64 * 2 + 1, 0, 0, 0, 0, 0, 0, 0, 0, 6 * 8 + 5, 0, 0, 0, 0, 7 * 8, 0x80, 1]);
  const raw = Buffer.concat([others, field(1, field(1, 'one'))]);
  expect(readProtobuf(message('Namespace', raw))).toEqual({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'one' },
  });
});

const REFUSED: readonly { reason: string; body: Buffer }[] = [
  { reason: 'JSON', body: Buffer.from('{"kind":"ConfigMap"}') },
  { reason: 'nothing', body: Buffer.alloc(0) },
  { reason: 'a kind that is not supported', body: message('Pod', field(1, NAMED)) },
  { reason: 'a message that ends too early', body: message('ConfigMap', field(1, NAMED)).subarray(0, 30) },
  { reason: 'content that is longer than the message', body: message('ConfigMap', Buffer.from([10, 99, 1])) },
];

test.each(REFUSED)('$reason is not a readable message', ({ body }) => {
  expect(readProtobuf(body)).toBeUndefined();
});
