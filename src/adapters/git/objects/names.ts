// Computes the object ids of a pack. Resolves each delta once, after its base.

import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { Failure } from '#std/failure.ts';
import { hashInTurns, OBJECT_BYTES, type PackLimits, type Spend, tooLarge } from './budget.ts';
import { applyDeltaInTurns, sizeMade } from './delta.ts';
import { inflateFirst, type ObjectType, readStored } from './entry.ts';
import { type GitObject, MAX_CHAIN, type ObjectStore } from './objects.ts';
import { LARGE_BYTES, looseHead, type ScannedEntry } from './scan.ts';

/** A delta base from another pack. */
export interface ForeignBase {
  readonly oid: string;
  readonly type: ObjectType;
  readonly size: number;
  readonly deflated: Buffer;
}

export interface PackNames {
  /** Object ids by the offset of the entry. */
  readonly names: ReadonlyMap<number, string>;
  readonly bases: readonly ForeignBase[];
}

export interface Sent {
  readonly pack: Buffer;
  readonly spend: Spend;
  readonly limits: PackLimits;
}

interface Naming extends Sent {
  readonly names: Map<number, string>;
  /** Unresolved deltas by base, which is an offset in the pack or an object id. */
  readonly waiting: Map<number | string, ScannedEntry[]>;
}

/**
 * Throws Failure `git-too-large`. Throws Failure `git-damaged` if the base of a delta is neither in the pack nor in the
 * store. Throws an Error if a delta is damaged.
 */
export async function resolveNames(
  sent: Sent,
  entries: readonly ScannedEntry[],
  store: ObjectStore,
): Promise<PackNames> {
  const naming: Naming = { ...sent, names: new Map(), waiting: waitingOf(entries) };
  for (const entry of entries) {
    await sent.spend(0);
    if (entry.oid !== undefined) await nameFrom(naming, entry, entry.oid);
  }
  const bases = await nameFromStore(naming, store);
  const [missing] = naming.waiting.keys();
  if (missing !== undefined) throw baseMissing(missing);
  return { names: naming.names, bases };
}

function waitingOf(entries: readonly ScannedEntry[]): Naming['waiting'] {
  const waiting: Naming['waiting'] = new Map();
  for (const entry of entries) {
    if (!('base' in entry.head)) continue;
    const { base } = entry.head;
    const same = waiting.get(base);
    if (same === undefined) waiting.set(base, [entry]);
    else same.push(entry);
  }
  return waiting;
}

async function nameFrom(naming: Naming, entry: ScannedEntry, oid: string): Promise<void> {
  naming.names.set(entry.offset, oid);
  const deltas = takeWaiting(naming, entry.offset, oid);
  if (deltas.length > 0) await nameBuilt(naming, { object: await readWhole(naming, entry), deltas });
}

/** Removes and returns the deltas on the object with one of these offsets or ids. */
function takeWaiting({ waiting }: Naming, ...bases: readonly (number | string)[]): ScannedEntry[] {
  const taken = bases.flatMap((base) => waiting.get(base) ?? []);
  for (const base of bases) waiting.delete(base);
  return taken;
}

interface Frame {
  readonly object: GitObject;
  /** Unresolved deltas on the object. */
  readonly deltas: ScannedEntry[];
  /** Sums over the object and all its bases. */
  readonly chain: { readonly bytes: number; readonly objects: number };
}

/** Resolves deltas depth first, so that only objects with unresolved deltas are in memory. */
async function nameBuilt(naming: Naming, base: Pick<Frame, 'object' | 'deltas'>): Promise<void> {
  const first = { ...base, chain: { bytes: base.object.content.length, objects: 1 } };
  const frames: Frame[] = [first];
  let alive = costOf(first);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const entry = frame.deltas.pop();
    if (frame.deltas.length === 0) {
      frames.pop();
      alive -= costOf(frame);
    }
    if (entry === undefined) continue;
    const object = await makeObject(naming, frame.object, entry);
    const oid = await hashObject(object);
    naming.names.set(entry.offset, oid);
    const deltas = takeWaiting(naming, entry.offset, oid);
    if (deltas.length === 0) continue;
    const next = { object, deltas, chain: chainOf(naming, frame, object) };
    frames.push(next);
    alive += costOf(next);
    checkAlive(naming, alive);
  }
}

function costOf({ object }: Pick<Frame, 'object'>): number {
  return object.content.length + OBJECT_BYTES;
}

function chainOf({ limits: { chainBytes } }: Naming, { chain }: Frame, { content }: GitObject): Frame['chain'] {
  const next = { bytes: chain.bytes + content.length, objects: chain.objects + 1 };
  if (next.objects > MAX_CHAIN) throw new Error('deltas without end');
  if (next.bytes > chainBytes) throw tooLarge('the data from which a file of the server is built', chainBytes);
  return next;
}

function checkAlive({ limits: { aliveBytes } }: Naming, bytes: number): void {
  if (bytes > aliveBytes) throw tooLarge('the data on which changes of the server build', aliveBytes);
}

async function makeObject(naming: Naming, base: GitObject, entry: ScannedEntry): Promise<GitObject> {
  const { pack, spend, limits } = naming;
  checkSize(limits, entry.head.size);
  const { bytes } = readStored(pack.subarray(entry.offset, entry.end), entry.offset, limits.deltaBytes);
  const size = sizeMade(bytes);
  checkSize(limits, size);
  if (bytes.length > deltaMax(size)) throw new Error('delta that is larger than its result');
  const content = await applyDeltaInTurns(base.content, bytes, limits.deltaBytes);
  await spend(content.length);
  return { type: base.type, content };
}

async function readWhole({ pack, spend, limits }: Naming, entry: ScannedEntry): Promise<GitObject> {
  const { offset, end, head } = entry;
  if ('base' in head) throw new Error('a delta is not whole');
  const { type, size, dataAt } = head;
  checkSize(limits, size);
  await spend(0, size);
  const stream = pack.subarray(offset + dataAt, end);
  if (size < LARGE_BYTES) return { type, content: inflateFirst(stream, size).content };
  return { type, content: await promisify(inflate)(stream, { maxOutputLength: size }) };
}

function checkSize({ deltaBytes }: PackLimits, size: number): void {
  if (size > deltaBytes) throw tooLarge('a file that the server sent as a change', deltaBytes);
}

async function hashObject({ type, content }: GitObject): Promise<string> {
  return (await hashInTurns([looseHead(type, content.length), content])).toString('hex');
}

/** Resolves deltas whose base is not in the pack. */
async function nameFromStore(naming: Naming, store: ObjectStore): Promise<readonly ForeignBase[]> {
  const bases: ForeignBase[] = [];
  let bytes = 0;
  for (const oid of naming.waiting.keys()) {
    await naming.spend(0);
    const object = typeof oid === 'string' ? store.read(oid) : undefined;
    if (typeof oid !== 'string' || object === undefined) continue;
    await naming.spend(object.content.length);
    // The copy drops the spare capacity of the compressor's buffer.
    const deflated = Buffer.from(await promisify(deflate)(object.content));
    bytes += deflated.length + OBJECT_BYTES;
    checkAlive(naming, bytes);
    bases.push({ oid, type: object.type, size: object.content.length, deflated });
    await nameBuilt(naming, { object, deltas: takeWaiting(naming, oid) });
  }
  const inPack = new Set(naming.names.values());
  if (bases.some(({ oid }) => inPack.has(oid))) throw new Error('object that is built on itself');
  return bases;
}

/**
 * Returns the maximum length of a delta. Servers send deltas that are shorter than the object. A hostile delta could
 * have many instructions with little effect.
 */
function deltaMax(size: number): number {
  return size + 1024;
}

function baseMissing(base: number | string): Failure {
  const message = `the pack from the server builds on ${base}, which is missing`;
  return new Failure('git-damaged', message, { data: { base }, retryable: true });
}
