// What scripts/record-release.ts has written down of earlier releases.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import { readDocuments } from '#std/yaml/yaml.ts';

const FOLDER = join(import.meta.dirname, 'releases');

export interface Write {
  readonly method: 'PATCH' | 'POST' | 'PUT';
  /** With query. */
  readonly url: string;
  readonly body: KubeObject;
  /** The uid that the object had: others name it. */
  readonly uid: string;
}

interface Answer {
  readonly path: string;
  readonly status: number;
  readonly body: JsonObject;
}

export interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly rows: readonly object[];
}

export interface RecordedRelease {
  readonly tag: string;
  readonly migrations: string;
  readonly definitions: readonly KubeObject[];
  /** One of each kind and more, without a namespace. */
  readonly manifests: readonly KubeObject[];
  /** What was committed, one commit after the other; null removes a file. */
  readonly commits: readonly { readonly commit: string; readonly files: Readonly<Record<string, string | null>> }[];
  /** Ids of the runs of those commits. */
  readonly runs: readonly string[];
  readonly writes: readonly Write[];
  /** Files of the state folder. */
  readonly state: Readonly<Record<string, unknown>>;
  /** By table. */
  readonly rows: Readonly<Record<string, readonly JsonObject[]>>;
  readonly answers: readonly Answer[];
  readonly queries: readonly Query[];
}

/** Every release that was recorded, the oldest first. */
export function recordedReleases(): readonly RecordedRelease[] {
  return readdirSync(FOLDER).toSorted(byVersion).map(read);
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

function read(tag: string): RecordedRelease {
  const folder = join(FOLDER, tag);
  const json = (name: string) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
  return {
    tag,
    migrations: join(folder, 'migrations'),
    definitions: definitionsIn(join(folder, 'crds')),
    manifests: json('manifests'),
    commits: json('commits'),
    runs: json('runs'),
    writes: json('writes'),
    state: json('state'),
    rows: json('rows'),
    answers: json('answers'),
    queries: json('queries'),
  };
}

/** Those of manifests/crds and of a recorded release alike. */
export function definitionsIn(folder: string): readonly KubeObject[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return files.flatMap((name) =>
    readDocuments(readFileSync(join(folder, name), 'utf8'), name).map(({ value }) => value as unknown as KubeObject),
  );
}
