// Stores files without faults from one process for the next: they are neither read from Git nor checked with their
// kinds again.

import type { ParsedObject } from './parsed-object.ts';
import type { SourceFile } from './source-file.ts';

/** JSON. */
export interface SoundFile {
  readonly path: string;
  readonly text: string;
  readonly objects: readonly ParsedObject[];
  /**
   * Digests of the tables that it was checked with, each of kinds and of the namespace of objects that name none. A
   * source is read twice if it uses kinds that only the cluster defines.
   */
  readonly heldAgainst: readonly string[];
}

/** Sound files by blob: of several files with the same text one is stored. */
export interface SoundFiles {
  /** Returns the file as the earlier process stored it. */
  find(file: Pick<SourceFile, 'oid' | 'path'>): SoundFile | undefined;
  /**
   * Adds a file, also one that was found: other files are not stored. A file that is added again was checked with both
   * tables.
   */
  add(oid: string, sound: SoundFile): void;
}

export interface SoundFileStore {
  /** Returns the files that the earlier process stored; none if their integrity is uncertain. */
  open(): Promise<SoundFiles>;
  /** Returns true if it was opened, and there is no key yet that would prove its integrity next time. */
  lacksKey(): boolean;
  /** Stores the added files, if they differ from the files that were found or stored before. */
  save(): void;
}
