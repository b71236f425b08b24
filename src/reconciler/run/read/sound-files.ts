// Files in which nothing was wrong, as one process leaves them to the next: they are neither read from Git nor held against
// their kinds again.

import type { ParsedObject } from './parsed-object.ts';
import type { SourceFile } from './source-file.ts';

/** JSON. */
export interface SoundFile {
  readonly path: string;
  readonly text: string;
  readonly objects: readonly ParsedObject[];
  /**
   * What it was held against, each a digest of kinds and the namespace of objects that name none. A source is read twice where
   * it uses kinds that only the cluster defines.
   */
  readonly heldAgainst: readonly string[];
}

/** By blob: of several files with the same text one is left. */
export interface SoundFiles {
  /** As the process before has left it. */
  find(file: Pick<SourceFile, 'oid' | 'path'>): SoundFile | undefined;
  /** Also of what was found: what no one adds is not left. Added again, it was held against both. */
  add(oid: string, sound: SoundFile): void;
}

export interface SoundFileStore {
  /** As the process before has left them; none where that cannot be known for certain. */
  open(): Promise<SoundFiles>;
  /** Whether it was opened, and there is no key yet that would say so next time. */
  lacksKey(): boolean;
  /** Leaves what was added, where it is other than what was found or left before. */
  save(): void;
}
