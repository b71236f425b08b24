// Notes what a run reads of the cluster, so that it can be asked later whether a run would read the same. Every read goes through
// here: none can be forgotten.

import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { Cluster } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { digest, sha256 } from '#std/hash.ts';
import type { ConnectedCluster } from '../connect.ts';
import { labelOfList } from './kept-lists.ts';

export interface NotedReads {
  readonly cluster: ConnectedCluster;
  /** Forgets what was noted: a run begins. */
  begin(): void;
  /**
   * Reads everything once more that was noted, first the lists that watches keep. Returns false as soon as an answer differs or is a
   * failure, and if the run has had two answers about the same.
   */
  isSame(): Promise<boolean>;
}

/** `P`: what is kept of an answer, to be compared. */
interface Read<T, P> {
  readonly label: string;
  /** It costs no request as long as its watch is open. */
  readonly isKept: boolean;
  readonly send: () => Promise<T>;
  readonly print: (answer: T) => P;
  readonly equal: (a: P, b: P) => boolean;
}

interface Note {
  readonly isKept: boolean;
  readonly print: unknown;
  readonly isStill: () => Promise<boolean>;
}

interface State {
  /** By label. */
  readonly notes: Map<string, Note>;
  /** A read has failed, or there were two answers. */
  isMixed: boolean;
}

export function noteReads(cluster: ConnectedCluster): NotedReads {
  const state: State = { notes: new Map(), isMixed: false };
  const noteOne = <T>(label: string, print: (answer: T) => unknown, send: () => Promise<T>): Promise<T> =>
    readNoted(state, { label, isKept: false, send, print, equal: Object.is });
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
        // Objects of lists that are kept are in memory anyway.
        return readNoted(state, { label, isKept: true, send, print: (objects) => objects, equal: areSameObjects });
      },
    },
    begin() {
      state.notes.clear();
      state.isMixed = false;
    },
    isSame: () => isStillSame(state, cluster),
  };
}

function readNoted<T, P>(state: State, read: Read<T, P>): Promise<T> {
  const answering = read.send();
  const fail = (): void => {
    state.isMixed = true;
  };
  void answering.then((answer) => note(state, read, read.print(answer)), fail);
  return answering;
}

function note<T, P>(state: State, { label, isKept, send, print, equal }: Read<T, P>, printed: P): void {
  const before = state.notes.get(label);
  if (before !== undefined && !equal(before.print as P, printed)) state.isMixed = true;
  state.notes.set(label, { isKept, print: printed, isStill: async () => equal(printed, print(await send())) });
}

async function isStillSame(state: State, cluster: Cluster): Promise<boolean> {
  if (state.isMixed || state.notes.size === 0) return false;
  const notes = [...state.notes.values()];
  try {
    for (const { isKept, isStill } of notes) if (isKept && !(await isStill())) return false;
    cluster.refresh();
    const others = await Promise.all(notes.map(({ isKept, isStill }) => isKept || isStill()));
    return others.every((isTrue) => isTrue);
  } catch (error) {
    // The run that follows meets the failure as well, and reports it.
    if (error instanceof Failure) return false;
    throw error;
  }
}

function digestIfAny(value: unknown): string {
  return value === undefined ? '' : digest(value);
}

function printOf(object: KubeObject | undefined): string {
  if (object === undefined) return '';
  const { uid, resourceVersion } = object.metadata;
  return `${object.apiVersion} ${uid} ${resourceVersion}`;
}

function printOfAll(objects: readonly KubeObject[]): string {
  return sha256(objects.map(printOf).join());
}

function areSameObjects(a: readonly KubeObject[], b: readonly KubeObject[]): boolean {
  return (
    a.length === b.length &&
    a.every((object, index) => {
      const other = b[index];
      return object === other || printOf(object) === printOf(other);
    })
  );
}
