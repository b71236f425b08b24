// Reads the sources of MCPRegistries for a run: Git through the Git adapter, ConfigMaps from what the run has listed.

import { join } from 'node:path';
import { openRepository } from '../adapters/git/repository.ts';
import type { Outbound } from '../adapters/http/outbound.ts';
import type { Content, Source } from '../catalogue/ports.ts';
import type { Origin } from '../contracts/registry-source.ts';
import type { View } from '../kinds/kind.ts';
import type { Clock } from '../reconcile/ports.ts';
import { Failure } from '../std/failure.ts';
import { sha256 } from '../std/hash.ts';
import { isObject } from '../std/json.ts';

export interface SourceDeps {
  readonly outbound: Outbound;
  readonly allowFiles: boolean;
  /** Where fetched repositories are kept. */
  readonly dir: string;
  readonly clock: Clock;
}

type GitOrigin = Extract<Origin, { type: 'git' }>;

export function registrySource(deps: SourceDeps, view: View): Source {
  return {
    async read(origin) {
      switch (origin.type) {
        case 'git':
          return readGit(deps, view, origin);
        case 'configMap':
          return readConfigMap(view, origin.name, origin.key);
        case 'api':
          throw new Failure('source-unsupported', `${origin.endpoint}: sources of type api are not supported yet`);
        case 'claim':
          throw new Failure(
            'source-unsupported',
            `claim ${origin.claimName} is read by the registry service, not here`,
          );
      }
    },
  };
}

async function readGit(deps: SourceDeps, view: View, origin: GitOrigin): Promise<Content> {
  const { repository, path, auth } = origin;
  const { branch, tag, commit } = origin;
  const ref = {
    ...(branch === undefined ? {} : { branch }),
    ...(tag === undefined ? {} : { tag }),
    ...(commit === undefined ? {} : { commit }),
  };
  const opened = openRepository({
    repository,
    ref,
    ...(auth === undefined
      ? {}
      : { auth: { username: auth.username, password: async () => secretValue(view, auth.passwordSecretRef) } }),
    dir: join(deps.dir, sha256(JSON.stringify([repository, ref, path])).slice(0, 16)),
    outbound: deps.outbound,
    allowFiles: deps.allowFiles,
    path,
    clock: deps.clock,
  });
  const checkout = await opened.fetch();
  const location = `${repository} ${path}@${checkout.commit.slice(0, 12)}`;
  const file = checkout.files.find((each) => each.path === path);
  if (file === undefined) throw new Failure('source-not-found', `${location}: there is no such file in the repository`);
  const bytes = (await checkout.read([file.oid])).get(file.oid);
  return { text: new TextDecoder().decode(bytes), location };
}

function readConfigMap(view: View, name: string, key: string): Content {
  const location = `ConfigMap ${name} key ${key}`;
  const data = view.find('ConfigMap', name)?.data;
  const text = isObject(data) ? data[key] : undefined;
  if (typeof text !== 'string') throw new Failure('source-not-found', `${location}: there is no such key`);
  return { text, location };
}

export function secretValue(view: View, { name, key }: { readonly name: string; readonly key: string }): string {
  const secret = view.find('Secret', name);
  const plain = isObject(secret?.stringData) ? secret.stringData[key] : undefined;
  if (typeof plain === 'string') return plain;
  const encoded = isObject(secret?.data) ? secret.data[key] : undefined;
  if (typeof encoded === 'string') return Buffer.from(encoded, 'base64').toString('utf8');
  throw new Failure('source-auth-required', `Secret ${name} has no key "${key}" to read the password from`);
}
