// Formats the WWW-Authenticate header of a refused request (RFC 6750 section 3, RFC 9728 section 5.1).

import { metadataUrl } from './metadata.ts';
import type { PublicRejection } from './rejection.ts';
import type { ResourceSettings } from './settings.ts';

/** Returns the value of the header. `error` is absent if the client sent no credentials (RFC 6750 section 3). */
export function challenge(
  settings: Pick<ResourceSettings, 'realm' | 'resourceUrl'>,
  { error, message, scope }: Omit<PublicRejection, 'status'>,
): string {
  const parameters: readonly (readonly [string, string])[] = [
    ['realm', settings.realm],
    ...(error === undefined
      ? []
      : ([
          ['error', error],
          ['error_description', message],
        ] as const)),
    ...(scope === undefined ? [] : ([['scope', scope]] as const)),
    ['resource_metadata', metadataUrl(settings.resourceUrl)],
  ];
  return `Bearer ${parameters.map(([name, value]) => `${name}=${quote(value)}`).join(', ')}`;
}

/** Formats a quoted-string (RFC 9110 section 5.6.4). Drops characters that a quoted-string cannot contain. */
function quote(text: string): string {
  return `"${text.replaceAll(/[^\x20-\x7e]/g, '').replaceAll(/["\\]/g, '\\$&')}"`;
}
