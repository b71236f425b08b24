// Builds the protected-resource metadata with which clients configure themselves (RFC 9728).

import type { JsonObject } from '#std/json.ts';
import type { ResourceSettings } from './settings.ts';

export const WELL_KNOWN_PATH = '/.well-known/oauth-protected-resource';

/** Returns the metadata of the resource (registry server document, Discovery document). */
export function resourceMetadata(settings: ResourceSettings): JsonObject {
  const { resourceDocumentation } = settings;
  return {
    resource: settings.resourceUrl,
    authorization_servers: [...new Set(settings.providers.map((provider) => provider.issuerUrl))],
    scopes_supported: [...settings.scopesSupported],
    bearer_methods_supported: ['header'],
    resource_documentation: resourceDocumentation,
  };
}

/** Inserts the well-known path between host and path of the resource (RFC 9728 section 3.1). */
export function metadataUrl(resourceUrl: string): string {
  const { origin, search } = new URL(resourceUrl);
  return `${origin}${WELL_KNOWN_PATH}${resourceSuffix(resourceUrl)}${search}`;
}

/** Returns the path of the resource, or an empty text for the path `/`. */
export function resourceSuffix(resourceUrl: string): string {
  const { pathname } = new URL(resourceUrl);
  return pathname === '/' ? '' : pathname;
}
