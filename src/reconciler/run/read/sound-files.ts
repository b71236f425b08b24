// Stores files without faults for the next process, which then neither reads them from Git nor checks them with their
// kinds.

import type { ParsedObject } from './parsed-object.ts';
import type { SourceFile } from './source-file.ts';

/** Consists of JSON. */
export interface SoundFile {
  readonly path: string;
  readonly text: string;
  readonly objects: readonly ParsedObject[];
  /**
   * Digests of the tables of kinds with which the file was checked; each includes the default namespace of objects. A
   * source is read twice if it uses kinds that only the cluster defines.
   */
  readonly heldAgainst: readonly string[];
}

/** Sound files by blob. Of several files with the same text, only one is stored. */
export interface SoundFiles {
  /** Returns the file as the earlier process stored it. */
  find(file: Pick<SourceFile, 'oid' | 'path'>): SoundFile | undefined;
  /**
   * Adds a file to the files to store; files from `find` must be added as well. A file that is added twice was checked
   * with both tables.
   */
  add(oid: string, sound: SoundFile): void;
}

export interface SoundFileStore {
  /** Returns the files that the earlier process stored; empty if their integrity is uncertain. */
  open(): Promise<SoundFiles>;
  /** Returns true if `open` was called and the key that proves the integrity to the next process does not exist yet. */
  lacksKey(): boolean;
  /** Stores the added files if they differ from the files that were opened or stored before. */
  save(): void;
}
