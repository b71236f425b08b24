// Implements `skep plan --against`: plans from a published snapshot, without access to the cluster. The snapshot is a
// file or a URL, and manifests come from repositories or from folders of this machine.

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import { planAgainst } from '#reconciler/run/plan-file/plan-against.ts';
import { parseSnapshot } from '#reconciler/run/plan-file/state-snapshot.ts';
import type { StateSnapshot } from '#reconciler/run/plan-file/state-snapshot-format.ts';
import type { Repository } from '#reconciler/run/ports.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import { Failure } from '#std/failure.ts';
import { awaitWithin, systemClock } from '../../clock.ts';
import { readAgeKeyFileIfPresent } from '../../config/age-key-file.ts';
import type { Config } from '../../config/config.ts';
import { readSecretFile } from '../../config/secret-file.ts';
import { egressFrom } from '../../egress.ts';
import { VERSION } from '../../version.ts';
import { openLoadCache } from '../kept/load-cache.ts';
import { fleetSource } from './fleet-source.ts';
import { answeringWithin } from './hurry.ts';
import { readOwnPolicies } from './instance.ts';
import { commitsOf, settingsDigests, toolHere } from './plan-files.ts';
import { openGit } from './repositories.ts';
import { optionsOf } from './runs/run-options.ts';
import { workTree } from './work-tree.ts';

export interface AgainstFlags {
  /** File or http(s) URL of the snapshot. */
  readonly against: string;
  readonly tokenFile?: string;
  /** Items of the form `name=folder`. */
  readonly source: readonly string[];
}

/**
 * Takes at most `cluster.timeoutSeconds`. Throws Failure `usage`, `snapshot-...`, and Failures of reading the
 * repositories.
 */
export async function planBySnapshot(config: Config, flags: AgainstFlags): ReturnType<typeof planAgainst> {
  const { allowPrivate, caFile } = config.outbound;
  const outbound = createOutbound({ allowPrivate, caFile, egress: egressFrom(process.env), version: VERSION });
  try {
    const folders = foldersOf(config, flags.source);
    const leftMs = timeLeft(config);
    const snapshot = await readInTime(outbound, flags, leftMs());
    const commits = commitsOf(snapshot);
    const { homeNamespace } = snapshot.cluster;
    const place = { config, outbound, folders, homeNamespace };
    return await planAgainst({
      deps: { clock: systemClock, cache: openLoadCache() },
      options: optionsOf(config, homeNamespace, await readOwnPolicies(config)),
      snapshot,
      here: { tool: toolHere(), instance: config.name, settings: settingsDigests(config) },
      before: config.sources.map((source) => answeringWithin(before(place, source, commits.get(source.name)), leftMs)),
      after: config.sources.map((source) => answeringWithin(after(place, source), leftMs)),
    });
  } finally {
    await outbound.close();
  }
}

/** Returns a function that returns the milliseconds until the command must end. */
function timeLeft({ cluster: { timeoutSeconds } }: Config): () => number {
  const until = systemClock.monotonic() + timeoutSeconds * 1000;
  return () => until - systemClock.monotonic();
}

async function readInTime(outbound: Outbound, flags: AgainstFlags, ms: number): Promise<StateSnapshot> {
  const reading = readSnapshot(outbound, flags);
  if (await awaitWithin(ms, reading)) return reading;
  const message = `${flags.against} has not answered within ${Math.ceil(ms / 1000)} s (cluster.timeoutSeconds)`;
  throw new Failure('snapshot-unavailable', message, { retryable: true });
}

type Source = Config['sources'][number];

interface Place {
  readonly config: Config;
  readonly outbound: Outbound;
  /** Folders of this machine by name of the source. */
  readonly folders: ReadonlyMap<string, string>;
  readonly homeNamespace: string;
}

function after({ config, outbound, folders, homeNamespace }: Place, source: Source): FleetSource {
  const folder = folders.get(source.name);
  const configured = comparing(source, fleetSource(config, source, outbound, undefined, homeNamespace));
  return folder === undefined ? configured : { ...configured, repository: workTree(folder) };
}

/** Opens a source at its commit in the snapshot. Tries the folder on this machine first, and then the repository. */
function before(place: Place, source: Source, commit: string | undefined): FleetSource {
  const { config, outbound, folders, homeNamespace } = place;
  if (commit === undefined) throw new Failure('snapshot-mismatch', `the snapshot has no source "${source.name}"`);
  const pinned = comparing(
    source,
    fleetSource(config, source, outbound, commit === undefined ? undefined : { commit }, homeNamespace),
  );
  const folder = folders.get(source.name);
  if (folder === undefined) return pinned;
  const local = openGit(
    { outbound, allowFiles: true, dir: join(config.stateDir, 'git'), clock: systemClock, credentials: [] },
    { repository: new URL(`file://${folder}`).href, path: '', commit },
  );
  return { ...pinned, repository: either(local, pinned.repository) };
}

/** Without keys, compares encrypted documents, because reviewers of a change may not have the keys. */
function comparing({ decryption }: Source, source: FleetSource): FleetSource {
  return decryption === undefined ? source : { ...source, keys: () => readAgeKeyFileIfPresent(decryption.ageKeyFile) };
}

function either(first: Repository, second: Repository): Repository {
  return {
    ...second,
    async fetch() {
      try {
        return await first.fetch();
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure;
        return second.fetch();
      }
    },
  };
}

function foldersOf({ sources }: Config, overrides: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    overrides.map((text): [string, string] => {
      const at = text.indexOf('=');
      const [name, folder] = [text.slice(0, at), text.slice(at + 1)];
      if (at < 1 || folder === '') throw new Failure('usage', `--source ${text}: give it as name=folder`);
      if (sources.every((source) => source.name !== name)) {
        const names = sources.map((source) => source.name).join(', ');
        throw new Failure('usage', `--source ${text}: there is no source "${name}" in skep.yaml (${names})`);
      }
      return [name, resolve(folder)];
    }),
  );
}

async function readSnapshot(outbound: Outbound, { against, tokenFile }: AgainstFlags): Promise<StateSnapshot> {
  const text = isUrl(against) ? await download(outbound, against, tokenFile) : await readSnapshotFile(against);
  return parseSnapshot(text, against);
}

function isUrl(text: string): boolean {
  return text.startsWith('http://') || text.startsWith('https://');
}

async function readSnapshotFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure('usage', `the snapshot cannot be read: ${reason}`, { cause });
  }
}

/** Maximum size of a snapshot. The snapshot of a fleet with 10,000 objects has a few MiB. */
const SNAPSHOT_BYTES_MAX = 256 * 1024 * 1024;

async function download(outbound: Outbound, url: string, tokenFile: string | undefined): Promise<string> {
  const [token] = tokenFile === undefined ? [] : await readSecretFile(tokenFile);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status, body } = await outbound.request({ url, method: 'GET', headers, maxBytes: SNAPSHOT_BYTES_MAX });
  if (status === 200) return Buffer.from(body).toString('utf8');
  const reasons: Readonly<Record<number, string>> = {
    401: 'the reconciler requires a token: use --token-file',
    403: 'the reconciler refuses every token: set http.tokenFile in its skep.yaml',
    404: 'no snapshot exists: set `snapshot` in skep.yaml of the reconciler, and wait for its first run',
    503: 'no run has published a snapshot yet',
  };
  throw new Failure('snapshot-unavailable', `${url} answers ${status}: ${reasons[status] ?? 'that is not a snapshot'}`);
}
