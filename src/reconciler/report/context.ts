// Defines the facts that a report needs in addition to its data.

import { isAbsolute, relative } from 'node:path/posix';
import type { SourcePlace } from '#std/problem.ts';
import type { CommandOf } from '#std/words/command-of.ts';
import type { Extent } from './command.ts';

export interface ReportContext {
  readonly version: string;
  /** Loads the function that returns the meaning and remedy of a code. */
  readonly meanings: () => Promise<(code: string) => string>;
  readonly helpUri: (code: string) => string;
  /**
   * Absolute path of the folder to which paths in reports are relative. In a checkout, the top folder of the checkout.
   */
  readonly root: string;
  /** Returns the URL of the page that shows a line of a file. If absent, reports contain no links to lines. */
  readonly linkTo?: (place: SourcePlace) => string;
  /** Returns a command as the reader must type it. */
  readonly commandOf: CommandOf;
  /** Length of lists in text. Default: `folded`. */
  readonly extent?: Extent;
  /** URL of the full report, for formats that have a maximum length. */
  readonly fullReport?: string;
}

/** Returns the path relative to the root; undefined if the file is not below the root. */
export function pathInRoot(file: string, { root }: Pick<ReportContext, 'root'>): string | undefined {
  const path = isAbsolute(file) ? relative(root, file) : relative('', file);
  return path === '' || path === '..' || path.startsWith('../') ? undefined : path;
}
