// Defines the facts that a report needs in addition to its data: the program, and places for further reading.

import { isAbsolute, relative } from 'node:path/posix';
import type { Place } from '#std/problem.ts';
import type { CommandOf } from '#std/words/command-of.ts';
import type { Extent } from './command.ts';

export interface ReportContext {
  /** Version of the program. */
  readonly version: string;
  /** Loads the meaning of each code, and its remedy, when they are needed. */
  readonly meanings: () => Promise<(code: string) => string>;
  /** Returns the URL of the page that explains a code. */
  readonly helpUri: (code: string) => string;
  /** Absolute path of the folder that paths in reports are relative to; for a checkout, its top. */
  readonly root: string;
  /** Returns the URL of the page that shows a line of a file. If absent, reports contain no such links. */
  readonly linkTo?: (place: Place) => string;
  /** Returns commands as readers type them. */
  readonly commandOf: CommandOf;
  /**
   * For text: `all` names every object, `folded` only counts children with the custom resource that they were created
   * for.
   */
  readonly extent?: Extent;
  /** Place of the full report, for formats that have to cut it. */
  readonly fullReport?: string;
}

/** Returns the path below the root, `/`-separated; undefined if the file is elsewhere. */
export function pathInRoot(file: string, { root }: Pick<ReportContext, 'root'>): string | undefined {
  const path = isAbsolute(file) ? relative(root, file) : relative('', file);
  return path === '' || path === '..' || path.startsWith('../') ? undefined : path;
}
