// Tests that damaged deltas, packs, indexes, loose objects and protocol lines are never misread.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { createRepository, temporaryFolder } from '../../../../test/harness/git-server.ts';
import { pktLine, pktLines, serverError, takeOutPack, withCapability } from '../transport/pkt-line.ts';
import { readBlobs } from './blobs.ts';
import { applyDelta } from './delta.ts';
import { openObjectStore } from './objects.ts';

const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function folder(): string {
  const { path, remove } = temporaryFolder();
  cleanups.push(remove);
  return path;
}

const BASE = Buffer.from('0123456789');

test.each([
  { delta: [10, 3, 0x03, 65, 66, 67], makes: 'ABC', reason: 'new bytes only' },
  { delta: [10, 4, 0x91, 2, 4], makes: '2345', reason: 'a copy' },
  { delta: [10, 5, 0x90, 2, 0x01, 65, 0x91, 8, 2], makes: '01A89', reason: 'a copy from the start, a byte, a copy' },
  { delta: [10, 0], makes: '', reason: 'an empty object' },
])('delta $delta makes "$makes": $reason', ({ delta, makes }) => {
  expect(applyDelta(BASE, Uint8Array.from(delta), 100).toString()).toBe(makes);
});

test('a copy without a size copies 65536 bytes, and sizes over 127 are encoded in several bytes', () => {
  const base = Buffer.alloc(70_000, 'x');
  const sizes = [0xf0, 0xa2, 0x04, 0x80, 0x80, 0x04];
  expect(applyDelta(base, Uint8Array.from([...sizes, 0x80]), 100_000).length).toBe(65_536);
});

test.each([
  { delta: [9, 1, 0x01, 65], says: 'another base', reason: 'another size of the base' },
  { delta: [10, 1, 0x00], says: 'reserved', reason: 'instruction 0' },
  { delta: [10, 3, 0x03, 65], says: 'ends early', reason: 'fewer new bytes than announced' },
  { delta: [10, 4, 0x91], says: 'ends early', reason: 'a copy without its arguments' },
  { delta: [10, 4, 0x91, 8, 4], says: 'beyond its base', reason: 'a copy from beyond the end' },
  { delta: [10, 1, 0x02, 65, 66], says: 'more than announced', reason: 'too long' },
  { delta: [10, 3, 0x02, 65, 66], says: 'less than announced', reason: 'too short' },
  { delta: [10, 101], says: 'object of 101 bytes', reason: 'over the limit' },
  { delta: [10], says: 'ends early', reason: 'no target size' },
])('delta $delta is refused: $reason', ({ delta, says }) => {
  expect(() => applyDelta(BASE, Uint8Array.from(delta), 100)).toThrow(says);
});

/** Creates a pack with one blob. */
function packed(): { readonly objects: string; readonly base: string; readonly oid: string } {
  const repository = createRepository(join(folder(), 'work'));
  repository.commit({ 'a.txt': 'some content that is long enough to be cut\n'.repeat(5) });
  repository.git('repack', '-adq');
  const objects = join(repository.dir, '.git/objects');
  const index = readdirSync(join(objects, 'pack')).find((name) => name.endsWith('.idx')) ?? '';
  return { objects, base: join(objects, 'pack', index.slice(0, -4)), oid: repository.git('rev-parse', 'HEAD:a.txt') };
}

function codeOf(run: () => unknown): string {
  try {
    run();
    return 'no error';
  } catch (error) {
    return error instanceof Failure ? error.code : String(error);
  }
}

function withChecksum(index: Buffer): Buffer {
  const body = index.subarray(0, -20);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

test.each<{ reason: string; damage: (index: Buffer) => Buffer }>([
  { reason: 'empty', damage: () => Buffer.alloc(0) },
  { reason: 'version 1', damage: (index) => Buffer.concat([Buffer.alloc(8), index.subarray(8)]) },
  { reason: 'a wrong checksum', damage: (index) => Buffer.from(index.fill(7, 1100, 1110)) },
  {
    reason: 'more objects announced than there are',
    damage: (index) => withChecksum(Buffer.from(index.fill(1, 1028, 1032))),
  },
])('an index is refused: $reason', ({ damage }) => {
  const { objects, base, oid } = packed();
  const bytes = readFileSync(`${base}.idx`);
  execFileSync('chmod', ['u+w', `${base}.idx`]);
  writeFileSync(`${base}.idx`, damage(bytes));
  expect(codeOf(() => openObjectStore(objects, 1000).read(oid))).toBe('git-damaged');
});

test('changed bytes of a pack with a valid index are detected by verify and by read', async () => {
  const { objects, base, oid } = packed();
  const bytes = readFileSync(`${base}.pack`);
  execFileSync('chmod', ['u+w', `${base}.pack`]);
  for (let at = 12; at < bytes.length - 20; at += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 0x55, at);
    writeFileSync(`${base}.pack`, changed);
    const store = openObjectStore(objects, 1_000_000);
    await expect(store.verify(), `byte ${at}`).rejects.toMatchObject({ code: 'git-damaged' });
    const read = codeOf(() => expect(store.read(oid)?.content.toString()).toContain('some content'));
    expect(['no error', 'git-damaged', 'git-too-large'], `byte ${at}`).toContain(read);
    store.close();
  }
});

test('an index without its pack is refused, and a store without a folder is empty', () => {
  const { objects, base } = packed();
  const other = folder();
  mkdirSync(join(other, 'pack'));
  copyFileSync(`${base}.idx`, join(other, 'pack/pack-x.idx'));
  expect(codeOf(() => openObjectStore(other, 1000))).toBe('git-damaged');
  expect(openObjectStore(join(objects, 'nowhere'), 1000).read('1'.repeat(40))).toBeUndefined();
});

test.each([
  { bytes: deflateSync('blob 3\0abc'), maxBytes: 100, code: 'no error', reason: 'well-formed' },
  { bytes: deflateSync('blob 4\0abc'), maxBytes: 100, code: 'git-damaged', reason: 'another size than announced' },
  { bytes: deflateSync('blob 3\0abd'), maxBytes: 100, code: 'git-damaged', reason: 'content that has another name' },
  { bytes: deflateSync('file 3\0abc'), maxBytes: 100, code: 'git-damaged', reason: 'an unknown type' },
  { bytes: deflateSync('blob'), maxBytes: 100, code: 'git-damaged', reason: 'no header' },
  { bytes: Buffer.from('not zlib'), maxBytes: 100, code: 'git-damaged', reason: 'not compressed' },
  { bytes: deflateSync(Buffer.alloc(100_000)), maxBytes: 100, code: 'git-too-large', reason: 'over the limit' },
])('reading a loose object gives $code: $reason', ({ bytes, maxBytes, code }) => {
  const objects = folder();
  const oid = createHash('sha1').update('blob 3\0abc').digest('hex');
  mkdirSync(join(objects, oid.slice(0, 2)));
  writeFileSync(join(objects, oid.slice(0, 2), oid.slice(2)), bytes);
  expect(codeOf(() => openObjectStore(objects, maxBytes).read(oid))).toBe(code);
});

test('an object in a pack over the limit is too large, not damaged', () => {
  const { objects, oid } = packed();
  expect(codeOf(() => openObjectStore(objects, 100).read(oid))).toBe('git-too-large');
});

test('the total size of the contents of one read is limited', async () => {
  const { objects, oid } = packed();
  const size = openObjectStore(objects, 1000).read(oid)?.content.length ?? 0;
  await expect(readBlobs(objects, 1000, [oid, oid])).resolves.toBeDefined();
  await expect(readBlobs(objects, 1000, [oid, oid], size * 2 - 1)).rejects.toMatchObject({ code: 'git-too-large' });
});

test.each([
  { bytes: '0008abcd0000000ahello\n', lines: ['abcd', 'hello\n'], reason: 'a flush in between' },
  { bytes: '0004000cabc', lines: [''], reason: 'an empty line, and one that is cut off' },
  { bytes: '0003', lines: [], reason: 'a length that cannot be' },
  { bytes: '<!doctype html>', lines: [], reason: 'something else' },
])('the pkt-lines of "$bytes" are $lines: $reason', ({ bytes, lines }) => {
  expect([...pktLines(Buffer.from(bytes))].map(String)).toEqual(lines);
});

test('errors of a server are found in an ERR line and on channel 3', () => {
  expect(serverError(Buffer.from('0008NAK\n0010ERR no way\n\n'))).toBe('no way');
  expect(serverError(Buffer.from('0008NAK\n000b\u0003broken'))).toBe('broken');
  expect(serverError(Buffer.from('0008NAK\n000a\u0001PACK\n'))).toBeUndefined();
});

test('the pack is extracted from a response, and lines about progress and shallow commits are removed', () => {
  const lines = [
    `shallow ${'1'.repeat(40)}`,
    `unshallow ${'2'.repeat(40)}`,
    'NAK\n',
    '\u0001PACK',
    '\u0002half',
    '\u0001-end',
  ];
  const answer = Buffer.from(`${lines.map(pktLine).join('')}0000`);
  const { pack, rest } = takeOutPack(answer);
  expect([String(pack), String(rest)]).toEqual(['PACK-end', '0008NAK\n0000']);
});

test('a response with too many lines, or with too many bytes besides the pack, is refused', () => {
  const many = Buffer.from('0005\u0001'.repeat(250_001));
  expect(() => serverError(many)).toThrow(/more than 250000 lines/);
  expect(() => takeOutPack(many)).toThrow(/more than 250000 lines/);
  expect(() => takeOutPack(Buffer.from('0008ACK\n'.repeat(10_000)))).toThrow(/other things than a pack/);
});

test('a capability is added only to a want line', () => {
  const want = `want ${'1'.repeat(40)} ofs-delta\n`;
  const request = `${(want.length + 4).toString(16).padStart(4, '0')}${want}0000`;
  const longer = `want ${'1'.repeat(40)} ofs-delta thin-pack\n`;
  const expected = `${(longer.length + 4).toString(16).padStart(4, '0')}${longer}0000`;
  expect(withCapability(Buffer.from(request), 'thin-pack').toString()).toBe(expected);
  expect(withCapability(Buffer.from('0014command=ls-refs\n'), 'thin-pack').toString()).toBe('0014command=ls-refs\n');
});
