// Reads the sources of MCPRegistries for a run. Adapters read Git and APIs. ConfigMaps come from the objects that the
// run has listed.

import { readApi } from '#adapters/sources/api.ts';
import { readUrl } from '#adapters/sources/url.ts';
import type { ConfigMapOrigin } from '#contracts/registry/source.ts';
import { configMapBytes, secretBytes } from '#kubernetes/rules/content.ts';
import type { View } from '#reconciler/kinds/kind.ts';
import type { Content, SourceReader } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';
import { readGit } from './registry-git.ts';
import type { GitDeps } from './repositories.ts';

export function registrySource(deps: GitDeps, view: View): SourceReader {
  return {
    // The declared type makes the compiler report an unhandled origin at this line.
    async read(request): ReturnType<SourceReader['read']> {
      const { origin } = request;
      switch (origin.type) {
        case 'git':
          return await readGit(deps, origin, ({ username, passwordSecretRef }) => ({
            auth: { username, password: async () => secretValue(view, passwordSecretRef).trim() },
          }));
        case 'configMap':
          return readConfigMap(view, origin);
        case 'api':
          return await readApi({ outbound: deps.outbound, now: () => deps.clock.now() }, { ...request, origin });
        case 'url':
          return await readUrl(deps.outbound, { ...request, origin });
        case 'fleet':
          throw new Failure('source-unsupported', 'running servers are stored at the end of a run, not read');
        case 'claim': {
          const message = `claim ${origin.claimName} is read by the registry service, not here`;
          throw new Failure('source-unsupported', message);
        }
      }
    },
  };
}

function readConfigMap(view: View, { name, key, optional }: ConfigMapOrigin): Content {
  const location = `ConfigMap ${name} key ${key}`;
  const bytes = configMapBytes(view.find('ConfigMap', name), key);
  if (bytes === undefined && optional === true) return { documents: [], extent: 'whole' };
  if (bytes === undefined) throw new Failure('source-not-found', `${location}: there is no such key`);
  return { documents: [{ text: textOfFile(bytes, location, 'source-not-text'), location }], extent: 'whole' };
}

export function secretValue(view: View, ref: { readonly name: string; readonly key: string }): string {
  const value = secretBytes(view.find('Secret', ref.name), ref.key);
  if (value !== undefined) return value.toString('utf8');
  throw new Failure('source-auth-required', `Secret ${ref.name} has no key "${ref.key}" to read the password from`);
}
