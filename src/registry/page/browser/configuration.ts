// Defines the text for a client's configuration, and the server's name in the text.

import { lastSegment } from './entry.ts';
import type { Blank } from './template.ts';

export interface Configuration {
  readonly text: string;
  /** Environment variables that must be set for the client. */
  readonly variables: readonly Blank[];
}

export function configurationKey(server: string): string {
  return lastSegment(server).replaceAll(/[^A-Za-z0-9._-]+/g, '-');
}
