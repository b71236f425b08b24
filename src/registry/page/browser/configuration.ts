// Defines a client's configuration text, and the key of the server in it.

import { lastSegment } from './entry.ts';
import type { Blank } from './template.ts';

export interface Configuration {
  readonly text: string;
  /** Environment variables that the reader must set for the client. */
  readonly variables: readonly Blank[];
}

export function configurationKey(server: string): string {
  return lastSegment(server).replaceAll(/[^A-Za-z0-9._-]+/g, '-');
}
