// Records the reads of a run, to determine later whether another run would read the same results. Every read of the
// cluster passes through this file, so none is missed.

import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { ApiResource, Cluster, ListOptions } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { digest, sha256 } from '#std/hash.ts';
import type { ConnectedCluster } from '../connect.ts';
import { labelOfList } from './kept-lists.ts';

export interface NotedReads {
  readonly cluster: ConnectedCluster;
  /** Records a read of another source under a unique `label`. `print` returns a text that identifies the result. */
  note<T>(label: string, print: (answer: T) => string, send: () => Promise<T>): Promise<T>;
  /** Drops all recorded reads, because a run begins. */
  begin(): void;
  /**
   * Repeats all recorded reads, beginning with watched lists. Returns false if a result differs, a read fails, or a
   * watched list would need a request. Also returns false if the run got two different results for one read.
   */
  isSame(): Promise<boolean>;
}

interface Note {
  /** True if a watch keeps the list, so that the comparison needs no request. */
  readonly isKept: boolean;
  /** True if the result equals the recorded result. */
  readonly isEqual: (answer: unknown) => boolean;
  readonly isStill: () => boolean | Promise<boolean>;
}

interface ReadNotes {
  readonly notes: Map<string, Note>;
  /** True if a read failed or had two different results. */
  isMixed: boolean;
}

export function noteReads(cluster: ConnectedCluster): NotedReads {
  const state: ReadNotes = { notes: new Map(), isMixed: false };
  const noteOne = <T>(label: string, print: (answer: T) => unknown, send: () => Promise<T>): Promise<T> =>
    readNoted(state, label, send, (answer) => {
      const printed = print(answer);
      const isEqual = (now: unknown): boolean => Object.is(printed, now);
      return { isKept: false, answer: printed, isEqual, isStill: async () => isEqual(print(await send())) };
    });
  return {
    cluster: {
      ...cluster,
      resources: () => noteOne('resources', digest, cluster.resources),
      serves: (version, kind) => noteOne(`serves ${version} ${kind}`, digestIfAny, () => cluster.serves(version, kind)),
      schema: (version) =>
        noteOne(
          `schema ${version}`,
          (schema) => schema,
          () => cluster.schema(version),
        ),
      tokenIssuer: () => noteOne('token issuer', digest, cluster.tokenIssuer),
      get: (id, how) => noteOne(`get ${keyOf(id)}`, printOf, () => cluster.get(id, how)),
      async list(kind, namespace, how = {}) {
        const { only, selector } = how;
        const label = `list ${labelOfList({ kind, namespace, only, selector })}`;
        const send = () => cluster.list(kind, namespace, how);
        if (how.kept !== true) return noteOne(label, printOfAll, send);
        return readNoted(state, label, send, keptNoteOf(cluster, kind, namespace, { only, selector }));
      },
    },
    note: noteOne,
    begin() {
      state.notes.clear();
      state.isMixed = false;
    },
    isSame: () => isStillSame(state, cluster),
  };
}

/**
 * Returns the note of a watched list, whose objects are in memory anyway. This is a separate function, because a
 * closure in `list` would also keep `hold`, and with it all declared objects of the run.
 */
function keptNoteOf(
  cluster: ConnectedCluster,
  kind: ApiResource,
  namespace: string | undefined,
  filter: Pick<ListOptions, 'only' | 'selector'>,
) {
  return (answer: readonly KubeObject[]) => ({
    isKept: true,
    answer,
    isEqual: (now: unknown) => areSameObjects(answer, now),
    isStill: () => areSameObjects(answer, cluster.keptList(kind, namespace, filter)),
  });
}

function readNoted<T>(
  state: ReadNotes,
  label: string,
  send: () => Promise<T>,
  noteOf: (answer: T) => Note & { readonly answer: unknown },
): Promise<T> {
  const answering = send();
  const fail = (): void => {
    state.isMixed = true;
  };
  void answering.then((received) => {
    const { answer, ...note } = noteOf(received);
    if (state.notes.get(label)?.isEqual(answer) === false) state.isMixed = true;
    state.notes.set(label, note);
  }, fail);
  return answering;
}

async function isStillSame(state: ReadNotes, cluster: Cluster): Promise<boolean> {
  if (state.isMixed || state.notes.size === 0) return false;
  const notes = [...state.notes.values()];
  try {
    for (const { isKept, isStill } of notes) if (isKept && !(await isStill())) return false;
    cluster.refresh();
    const others = await Promise.all(notes.map(({ isKept, isStill }) => isKept || isStill()));
    return others.every((isTrue) => isTrue);
  } catch (error) {
    // The next run will have this failure too, and will report the failure.
    if (error instanceof Failure) return false;
    throw error;
  }
}

function digestIfAny(value: unknown): string {
  return value === undefined ? '' : digest(value);
}

/**
 * Returns the object's apiVersion, uid and resourceVersion. For an object without them, returns a digest of its
 * content.
 */
function printOf(object: KubeObject | undefined): string {
  if (object === undefined) return '';
  const { uid, resourceVersion } = object.metadata;
  if (uid === undefined || resourceVersion === undefined) return digest(object);
  return `${object.apiVersion} ${uid} ${resourceVersion}`;
}

function printOfAll(objects: readonly KubeObject[]): string {
  return sha256(objects.map(printOf).join());
}

/** Compares by identity: a watched list contains the same JavaScript object until it changes or is read by a LIST. */
function areSameObjects(before: readonly KubeObject[], now: unknown): boolean {
  return Array.isArray(now) && now.length === before.length && before.every((object, index) => object === now[index]);
}
