// Opens the image verifier of an instance, with its files, its pull secrets, and the results in the state folder.

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outbound } from '#adapters/http/outbound.ts';
import { type KeepingVerifier, openVerifier } from '#adapters/oci/verifier.ts';
import { secretBytes } from '#kubernetes/rules/content.ts';
import type { ImageVerifier } from '#reconciler/run/images/ports.ts';
import type { Cluster } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { imagePolicyOf } from '../../config/image-policy.ts';
import { writeState } from '../../state-file.ts';

export interface InstanceVerifier extends ImageVerifier {
  save(): Promise<void>;
}

/** Returns undefined if the settings verify no images. Reads files only when the first image is verified. */
export function openImageVerifier(
  config: Config,
  outbound: Outbound,
  cluster: Pick<Cluster, 'get'>,
): InstanceVerifier | undefined {
  if (imagePolicyOf(config.images) === undefined) return undefined;
  const { refreshSeconds, realms = {}, plainHttp, trustedRoot } = config.images.verify;
  const path = join(config.stateDir, `${config.name}-images.json`);
  let opened: KeepingVerifier | undefined;
  const open = (): KeepingVerifier =>
    openVerifier({
      outbound,
      plainHttp,
      realms,
      now: systemClock.now,
      refreshMs: refreshSeconds * 1000,
      root: () => (trustedRoot === undefined ? readPublicGood() : readTrustFile(trustedRoot)),
      readKeys: readTrustFile,
      pullSecret: (namespace, name) => readPullSecret(cluster, namespace, name),
      stored: readKept(path),
    });
  return {
    inspect(request) {
      opened ??= open();
      return opened.inspect(request);
    },
    async save() {
      const text = opened?.save();
      if (text !== undefined) await writeState(path, text);
    },
  };
}

/** Returns the trusted root of Sigstore's public-good instance, from @sigstore/tuf 5.0.1 of 2026-11-05. */
async function readPublicGood(): Promise<string> {
  const { default: root } = await import('./public-good.json', { with: { type: 'json' } });
  publicGood ??= JSON.stringify(root);
  return publicGood;
}

let publicGood: string | undefined;

async function readTrustFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Failure('image-trust', `the file ${path}, which images are verified with, cannot be read`, { cause });
  }
}

async function readPullSecret(
  cluster: Pick<Cluster, 'get'>,
  namespace: string,
  name: string,
): Promise<string | undefined> {
  const secret = await cluster.get({ apiVersion: 'v1', kind: 'Secret', namespace, name });
  const bytes = secret && secretBytes(secret, '.dockerconfigjson');
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
}

/** Returns undefined if the file cannot be read. */
function readKept(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
