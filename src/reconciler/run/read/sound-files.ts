// Stores files without faults for the next process, which then neither reads these files from Git nor checks them
// again.

import type { ParsedObject } from './parsed-object.ts';
import type { SourceFile } from './source-file.ts';

/** A stored file. It consists of JSON. */
export interface SoundFile {
  readonly path: string;
  readonly text: string;
  readonly objects: readonly ParsedObject[];
  /**
   * Digests of the kind tables with which the file was checked. Each digest includes the default namespace. A source
   * that uses kinds of the cluster is checked with two tables.
   */
  readonly heldAgainst: readonly string[];
}

/** Files without faults, by blob. If several files have the same text, only one is stored. */
export interface SoundFiles {
  /** Returns the stored file of the earlier process; undefined if that process did not store the file. */
  find(file: Pick<SourceFile, 'oid' | 'path'>): SoundFile | undefined;
  /** Adds a file to the files that `save` stores. Files that `find` returned must be added again. */
  add(oid: string, sound: SoundFile): void;
}

export interface SoundFileStore {
  /** Returns the files of the earlier process. Empty if the files may have been changed since that process. */
  open(): Promise<SoundFiles>;
  /** Returns true if `open` found no key. The next process needs the key to check that the files were not changed. */
  lacksKey(): boolean;
  /** Stores the added files if they differ from the stored files. */
  save(): void;
}
