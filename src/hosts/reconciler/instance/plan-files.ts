// Reads and writes plan files of an instance. A plan file is bound to the program, the cluster and the settings.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { verifyDetached } from '#adapters/git/signatures/detached.ts';
import type { DigestKey } from '#reconciler/run/desire/digest-key.ts';
import type { Snapshot } from '#reconciler/run/observe/snapshot.ts';
import { checkAge, identifyCluster } from '#reconciler/run/plan-file/binding.ts';
import type { PlanFile, PlannedSource } from '#reconciler/run/plan-file/format.ts';
import type { PlanBinding } from '#reconciler/run/plan-file/plan-file.ts';
import { formatPlanFile, parsePlanFile, planFileOf } from '#reconciler/run/plan-file/plan-file.ts';
import type { Clock, Cluster } from '#reconciler/run/ports.ts';
import type { Prepared } from '#reconciler/run/prepare.ts';
import type { Gathered } from '#reconciler/run/read/gather.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import type { Config } from '../../config/config.ts';
import { programDigest } from '../../program-digest.ts';
import { VERSION } from '../../version.ts';
import { shown } from './pinned.ts';
import { policyFiles } from './policy-files.ts';

/** Returns the binding of a plan that is made now. */
export async function readBinding(
  config: Config,
  cluster: Pick<Cluster, 'get'>,
  homeNamespace: string,
): Promise<PlanBinding> {
  return {
    tool: toolHere(),
    instance: config.name,
    cluster: await identifyCluster(cluster, homeNamespace),
    settings: settingsDigests(config),
  };
}

let digestHere: string | undefined;

/** Returns the name and the digest of this program. The digest is computed only once. */
export function toolHere(): PlanBinding['tool'] {
  digestHere ??= programDigest();
  return { name: `skep/${VERSION}`, digest: digestHere };
}

/**
 * Settings that do not change a plan: who runs it, when, from which machine, and how it is reported. Changes of other
 * settings invalidate a plan.
 */
const NO_PART_OF_A_PLAN: ReadonlySet<string> = new Set([
  'name',
  'schedule',
  'timeZone',
  'jitterSeconds',
  'windows',
  'cluster',
  'approval',
  'outbound',
  'git',
  'stateDir',
  'http',
  'plans',
  'snapshot',
  'notify',
  'history',
]);

export function settingsDigests(config: Config): Record<string, string> {
  const { waitSeconds: _waiting, ...apply } = config.apply;
  const sources = config.sources.map(({ auth: _auth, repository, ...source }) => ({
    ...source,
    repository: shown(repository),
  }));
  // Compares the contents of policies, so that their paths may differ.
  const policies = policyFiles(config.policies, config.apiGroup).map(({ oid }) => oid);
  const shaping = Object.entries({ ...config, apply, sources, policies }).filter(
    ([name]) => !NO_PART_OF_A_PLAN.has(name),
  );
  return Object.fromEntries(shaping.map(([name, value]) => [name, digest(value)]));
}

interface PlannedBy {
  readonly cluster: Pick<Cluster, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly digestKey: DigestKey;
  readonly homeNamespace: string;
}

/** Throws Failure `plan-incomplete` or `file-not-written`. */
export async function writePlanFile(
  file: string,
  config: Config,
  { cluster, clock, digestKey, homeNamespace }: PlannedBy,
  { result, prepared }: { readonly result: RunResult; readonly prepared: Prepared },
): Promise<void> {
  assertComplete(file, prepared);
  const binding = await readBinding(config, cluster, homeNamespace);
  const sources = plannedSources(config, result.commits);
  const createdAt = new Date(clock.now()).toISOString();
  const key = await readSecretKey(digestKey);
  await writeWhole(file, formatPlanFile(planFileOf({ binding, sources, createdAt, prepared, key })));
}

/**
 * Throws Failure `plan-incomplete` if a source or a kind could not be read completely: missing objects would look
 * deleted. A catalogue need not be readable, because children whose images must be in the catalogue are kept unchanged.
 */
export function assertComplete(
  file: string,
  {
    gathered,
    snapshot,
  }: { readonly gathered: Pick<Gathered, 'failures'>; readonly snapshot: Pick<Snapshot, 'failures'> },
): void {
  const [failure] = [...gathered.failures, ...snapshot.failures()];
  if (failure === undefined) return;
  throw new Failure(
    'plan-incomplete',
    `${file} is not written, because not everything could be read: ${failure.message}`,
  );
}

/** Returns the key for digests of Secrets; undefined if the user has no right to read it. */
export async function readSecretKey(digestKey: DigestKey): Promise<Uint8Array | undefined> {
  try {
    if (digestKey.known() === undefined) await digestKey.find();
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.code !== 'cluster-forbidden') throw failure;
  }
  return digestKey.known();
}

export function plannedSources(
  { sources }: Config,
  commits: Readonly<Record<string, string>>,
): readonly PlannedSource[] {
  return sources.map((source) => plannedSource(source, commits[source.name] ?? ''));
}

function plannedSource(source: Config['sources'][number], commit: string): PlannedSource {
  const { name, repository, branch, tag, semver, commit: fixed } = source;
  const [ref = 'the default branch'] = Object.entries({ branch, tag, semver, commit: fixed }).flatMap(
    ([sort, value]) => (value === undefined ? [] : [`${sort} ${value}`]),
  );
  return { name, repository: shown(repository), ref, commit };
}

/** Replaces the file atomically: readers see either the old text or the new text. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}.new`;
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure('file-not-written', `${file} cannot be written: ${reason}`, { cause });
  }
}

/** Signature namespace of plan files (`ssh-keygen -Y sign -n`). */
const NAMESPACE = 'skep-plan';

/**
 * Verifies the signature before parsing the file. Throws Failure `usage`, `plan-invalid`, `plan-version`,
 * `plan-expired` or `plan-signature-...`.
 */
export async function readPlanFile(
  file: string,
  { plans }: Config,
  now: number,
): Promise<{ readonly plan: PlanFile; readonly isSigned: boolean }> {
  const bytes = await bytesOf(file);
  const { require, keys, expiresHours } = plans;
  const isSigned = require === 'signed' || (keys.length > 0 && existsSync(`${file}.sig`));
  if (isSigned) await verifyDetached(file, bytes, { namespace: NAMESPACE, keys });
  const plan = parsePlanFile(bytes.toString('utf8'), file);
  checkAge(plan, now, expiresHours);
  return { plan, isSigned };
}

async function bytesOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure('usage', `the plan file cannot be read: ${reason}`, { cause });
  }
}

export function commitsOf({ sources }: Pick<PlanFile, 'sources'>): ReadonlyMap<string, string> {
  return new Map(sources.map(({ name, commit }) => [name, commit]));
}
