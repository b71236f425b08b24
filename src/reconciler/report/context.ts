// What a report gets beside its data: who reports, where things can be read up.

import { isAbsolute, relative } from 'node:path/posix';
import type { Place } from '#std/problem.ts';
import type { CommandOf } from '#std/words/command-of.ts';
import type { Extent } from './command.ts';

export interface ReportContext {
  /** Of the program. */
  readonly version: string;
  /** What each code means, and what to do about it; loaded when it is asked for. */
  readonly meanings: () => Promise<(code: string) => string>;
  /** Page that explains a code. */
  readonly helpUri: (code: string) => string;
  /** Absolute path of the folder that paths in reports are relative to: of a checkout, its top. */
  readonly root: string;
  /** Page that shows a line of a file, where there is one. */
  readonly linkTo?: (place: Place) => string;
  /** How readers type what is to be done. */
  readonly commandOf: CommandOf;
  /** Text: whether every object is named, or counted with the custom resource that it is made of. */
  readonly extent?: Extent;
  /** Where the report stands in full, for formats that have to cut it. */
  readonly fullReport?: string;
}

/** The path below the root, `/`-separated; undefined where the file is elsewhere. */
export function pathInRoot(file: string, { root }: Pick<ReportContext, 'root'>): string | undefined {
  const path = isAbsolute(file) ? relative(root, file) : relative('', file);
  return path === '' || path === '..' || path.startsWith('../') ? undefined : path;
}
