// Reads a port number of the command line.

import { InvalidArgumentError } from 'commander';

/** Accepts 0, which lets the operating system choose a port. */
export function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('a port is a number from 0 to 65535');
}
