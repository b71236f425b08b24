// Creates the options of a run from the configuration of its instance.

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { PolicySet } from '#kubernetes/rules/policy/read.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { RunOptions } from '#reconciler/run/run.ts';
import type { Config } from '../../../config/config.ts';
import { imagePolicyOf } from '../../../config/image-policy.ts';
import { VERSION } from '../../../version.ts';
import { RELEASED_IMAGE } from '../../own-image.ts';

/** `image`: image of workloads for which the configuration names none. */
export function optionsOf(config: Config, home: string, policies?: PolicySet, image = RELEASED_IMAGE): RunOptions {
  const { proxy = image, vmcp = image, registry = image, pullSecrets } = config.images;
  const { prune, maxDeletes, maxDeletesPercent, waitSeconds, conflicts } = config.apply;
  return {
    id: randomUUID(),
    host: hostname(),
    instance: config.name,
    homeNamespace: home,
    apiGroup: config.apiGroup,
    kinds: KINDS,
    settings: {
      apiGroup: config.apiGroup,
      images: { proxy, vmcp, registry },
      pullSecrets,
      pods: config.pods,
      catalogueDatabase: config.catalogue?.database,
    },
    policies,
    verify: imagePolicyOf(config.images),
    namespaces: config.namespaces,
    scope: config.scope,
    children: config.children,
    prune,
    limits: { maxDeletes, maxDeletesPercent },
    conflicts,
    waitSeconds,
    tooling: `skep/${VERSION}`,
  };
}
