// The health check of the image, for engines that ask it (Docker, Podman; Kubernetes has its probes instead): does what runs
// as the container's first process answer? A command that ends by itself has no listener, and is healthy as long as it runs.
// SKEP_HEALTH_URL names the address where it is not the usual one.

import { readFileSync } from 'node:fs';
import { argv, env, stderr } from 'node:process';

/** Where the listeners are unless a configuration says otherwise. */
const USUAL: Readonly<Record<string, string>> = {
  serve: 'http://127.0.0.1:8080/health',
  run: 'http://127.0.0.1:8081/health',
};
const TIMEOUT_MS = 4_000;

/** The command of a process's command line: `node /skep/dist/skep.js serve -c ...`. */
function commandOf(file: string): string {
  const words = readFileSync(file, 'utf8').split('\0');
  return words[words.findIndex((word) => /(^|\/)skep(\.[jt]s)?$/.test(word)) + 1] ?? '';
}

/** What is wrong; undefined where nothing is. */
async function complaint(url: string, mayBeSilent: boolean): Promise<string | undefined> {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
    return status === 200 ? undefined : `status ${status}`;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    // A stuck process still accepts connections; no one listens where `http.address` is not set.
    if (mayBeSilent && cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED') return undefined;
    return cause instanceof Error ? cause.message : String(cause);
  }
}

const command = commandOf(argv[2] ?? '/proc/1/cmdline');
const url = env.SKEP_HEALTH_URL ?? USUAL[command];
const wrong =
  url === undefined ? undefined : await complaint(url, env.SKEP_HEALTH_URL === undefined && command === 'run');
if (wrong !== undefined) {
  stderr.write(`${url}: ${wrong}\n`);
  process.exitCode = 1;
}
