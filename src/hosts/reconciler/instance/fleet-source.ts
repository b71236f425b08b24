// Opens a source of skep.yaml for a run, with its repository, its service account, its keys and its variables.

import { join } from 'node:path';
import type { Outbound } from '#adapters/http/outbound.ts';
import type { HistoryStore } from '#reconciler/run/history/ports.ts';
import { userOf } from '#reconciler/run/plan/accounts.ts';
import type { Cluster } from '#reconciler/run/ports.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import {
  declaredVariables,
  readVariables,
  type Substitution,
  type Variables,
} from '#reconciler/run/read/substitute/variables.ts';
import { readAgeKeyFile } from '../../config/age-key-file.ts';
import type { Config } from '../../config/config.ts';
import { kustomizeHere } from '../kustomize-here.ts';
import { type Pin, pinned, sourceOrigin } from './pinned.ts';
import { authOf, gitDeps, openGitOfSource } from './repositories.ts';

/** Commits that a plan file names. */
export interface PlannedCommits {
  /** Commits by name of the source. Sources are read at these commits, even if their refs have moved. */
  readonly commits: ReadonlyMap<string, string>;
  /** True if an accepted key has signed the plan file. */
  readonly isSigned: boolean;
}

/** Returns the commit at which the source must be read; undefined if the plan does not contain the source. */
export function pinOf(planned: PlannedCommits | undefined, source: string, history: HistoryStore): Pin | undefined {
  const commit = planned?.commits.get(source);
  if (planned === undefined || commit === undefined) return undefined;
  const wasNamed = async () => (await history.latest(HISTORY_MAX)).some(({ commits }) => commits[source] === commit);
  return planned.isSigned ? { commit } : { commit, wasNamed };
}

/** Maximum number of runs that skep.yaml can keep. */
const HISTORY_MAX = 1000;

/**
 * Contacts no server. `pin`: if undefined, the source is read at its ref. `cluster`: if undefined, variables from the
 * cluster stay unknown.
 */
export function fleetSource(
  config: Config,
  source: Config['sources'][number],
  outbound: Outbound,
  pin: Pin | undefined,
  homeNamespace: string,
  cluster?: Pick<Cluster, 'get'>,
): FleetSource {
  const { name, path, ignore, namespace, substitute, allow, dependsOn, serviceAccount, verify, decryption } = source;
  const configured = openGitOfSource(name, gitDeps(config, outbound), gitRequest(source));
  const byTag = verify !== undefined && verify.mode !== 'head';
  const repository = pin === undefined ? configured : pinned(configured, pin, byTag);
  const account = serviceAccount === undefined ? {} : { account: userOf(serviceAccount, homeNamespace) };
  const fixed = pin === undefined ? {} : { fixed: true as const };
  const keys = decryption === undefined ? {} : { keys: () => readAgeKeyFile(decryption.ageKeyFile) };
  const variables =
    substitute === undefined ? {} : { variables: variableReader(name, substitute, homeNamespace, cluster) };
  const kustomize = kustomizeHere(join(config.stateDir, 'kustomize'));
  const origin = sourceOrigin(source.repository, path);
  return {
    name,
    origin,
    path,
    ignore,
    namespace,
    repository,
    allow,
    dependsOn,
    kustomize,
    ...account,
    ...fixed,
    ...keys,
    ...variables,
  };
}

/** Requests the whole repository, so that sources with equal commits and different paths share a local copy. */
function gitRequest({ repository, branch, tag, semver, commit, auth, verify }: Config['sources'][number]) {
  return { repository, branch, tag, semver, commit, path: '', auth: auth && authOf(auth), verify };
}

function variableReader(
  source: string,
  substitution: Substitution,
  namespace: string,
  cluster: Pick<Cluster, 'get'> | undefined,
): () => Promise<Variables> {
  if (cluster === undefined) return async () => declaredVariables(source, substitution);
  return () => readVariables(cluster, namespace, source, substitution);
}
