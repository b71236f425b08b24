// Opens a source of skep.yaml for a run: its repository, the pinned commit, its account and keys. Contacts no server.

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

/** The commits that a plan file was made from. */
export interface PlannedCommits {
  /** Commits by name of the source. Sources are read at these commits, even if their refs name other commits now. */
  readonly commits: ReadonlyMap<string, string>;
  /** Whether one of the accepted keys has signed the plan file. */
  readonly isSigned: boolean;
}

/** Returns undefined if the plan does not contain the source. */
export function pinOf(planned: PlannedCommits | undefined, source: string, history: HistoryStore): Pin | undefined {
  const commit = planned?.commits.get(source);
  if (planned === undefined || commit === undefined) return undefined;
  const wasNamed = async () => (await history.latest(HISTORY_MAX)).some(({ commits }) => commits[source] === commit);
  return planned.isSigned ? { commit } : { commit, wasNamed };
}

/** The most runs that skep.yaml may keep. */
const HISTORY_MAX = 1000;

/**
 * If `pin` is undefined, the source is read at its ref. If `cluster` is undefined, variables from the cluster stay
 * unknown. Contacts no server yet.
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

/** Requests the whole repository, so that sources with the same commits and different paths share the local copy. */
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
