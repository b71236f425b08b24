// What is pasted into a client, and what the server is called there.

import { lastSegment } from './entry.ts';
import type { Blank } from './template.ts';

export interface Configuration {
  readonly text: string;
  /** Environment variables that must be set where the client runs. */
  readonly variables: readonly Blank[];
}

export function configurationKey(server: string): string {
  return lastSegment(server).replaceAll(/[^A-Za-z0-9._-]+/g, '-');
}
