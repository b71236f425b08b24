// Reads the number of a port on the command line.

import { InvalidArgumentError } from 'commander';

/** 0 lets the system choose. */
export function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('a port is a number from 0 to 65535');
}
