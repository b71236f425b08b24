// Returns the URL, headers and certificates for calls to the remote server of an MCPServerEntry, or the reason why it
// cannot be called.

import { SECRET_ENV } from '#contracts/run-config.ts';
import type { VmcpBackend } from '#contracts/vmcp-config.ts';
import { hasEntry } from '#kubernetes/rules/content.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Static } from '#std/schema.ts';
import { type Bundle, bundleOf, certificatesFault } from '../auth/ca-bundle.ts';
import type { Reference, Resource, View } from '../kind.ts';
import { MCPExternalAuthConfig } from '../mcpexternalauthconfig/index.ts';
import { MCPServerEntry } from '../mcpserverentry/index.ts';
import type { MCPServerEntrySpec } from '../mcpserverentry/schema.ts';
import type { Env } from '../pods/pod.ts';
import { type Unusable, variableSuffixOfPlace } from './strategies.ts';

/** Settings that an entry adds to a backend. */
export interface EntryParts {
  readonly place: Pick<VmcpBackend, 'headerForward' | 'caBundlePath'>;
  /** Environment variables with values of headers. */
  readonly env: readonly Env[];
  /** Certificates to mount. The server reads them when it opens the backend. */
  readonly bundle: Bundle | undefined;
}

export const NO_ENTRY: EntryParts = { place: {}, env: [], bundle: undefined };

/** Returns the spec of an entry. Callers pass only entries that fit the schema. */
export function specOfEntry(entry: KubeObject): Static<typeof MCPServerEntrySpec> {
  const spec: unknown = entry.spec;
  return spec as Static<typeof MCPServerEntrySpec>;
}

type Called = Pick<VmcpBackend, 'url' | 'transport'>;

/**
 * Returns the reason why the entry cannot be called. A missing Secret would keep the server's pods from starting, and
 * unreadable certificates would end its process. `authConfig`: name of the entry's MCPExternalAuthConfig, if it names
 * one.
 */
export function entryFault(
  entry: KubeObject,
  called: Called,
  authConfig: string | undefined,
  view: View,
): Unusable | undefined {
  const contradicted = contradictedField(entry, called);
  if (contradicted !== undefined) return contradicted;
  const resource = entry as Resource;
  const whose = `MCPServerEntry ${entry.metadata.name}`;
  const [fault] = MCPServerEntry.rules(resource, entry.spec).filter(({ severity }) => severity === 'error');
  if (fault !== undefined) return { fault: `${whose}: ${fault.message}` };
  return referenceFault(whose, MCPServerEntry.references(resource), view) ?? authFault(authConfig, view);
}

function authFault(name: string | undefined, view: View): Unusable | undefined {
  const config = name === undefined ? undefined : view.find('MCPExternalAuthConfig', name);
  if (config === undefined) return undefined;
  return referenceFault(`MCPExternalAuthConfig ${name}`, MCPExternalAuthConfig.references(config as Resource), view);
}

function referenceFault(whose: string, references: readonly Reference[], view: View): Unusable | undefined {
  const missing = references.find((reference) => !isThere(reference, view));
  if (missing !== undefined) {
    const { kind, name, key } = missing;
    const what = `${kind} ${name}${key === undefined ? '' : ` with key ${key}`}`;
    return { fault: `${whose}: ${what} does not exist`, isAbsence: true };
  }
  const [fault] = references.flatMap((reference) => certificatesFault(reference, view) ?? []);
  return fault === undefined ? undefined : { fault: `${whose}: ${fault}` };
}

/**
 * Returns a fault if a listed backend has another URL or transport than the entry. The entry's headers and certificates
 * are only for the entry's URL.
 */
function contradictedField(entry: KubeObject, called: Called): Unusable | undefined {
  const { remoteUrl, transport } = specOfEntry(entry);
  const because = 'its headers and certificates are only for its own URL';
  const whose = `MCPServerEntry ${entry.metadata.name}`;
  if (remoteUrl !== called.url) {
    return { field: 'url', fault: `${whose} has remoteUrl ${remoteUrl}, not ${called.url}: ${because}` };
  }
  if (transport === called.transport) return undefined;
  return { field: 'transport', fault: `${whose} has transport ${transport}, not ${called.transport}: ${because}` };
}

function isThere({ kind, name, key, optional }: Reference, view: View): boolean {
  const found = view.find(kind, name);
  return optional !== undefined || (found !== undefined && (key === undefined || hasEntry(found, key)));
}

export function entryParts(entry: KubeObject, view: View): EntryParts {
  const { headerForward, caBundleRef } = specOfEntry(entry);
  const bundle = bundleOf(caBundleRef, view);
  const secrets = secretHeaders(entry);
  const plain = headerForward?.addPlaintextHeaders ?? {};
  const hasPlain = Object.keys(plain).length > 0;
  const identifiers = Object.fromEntries(secrets.map(({ headerName, identifier }) => [headerName, identifier]));
  const headers = {
    addPlaintextHeaders: hasPlain ? plain : undefined,
    addHeadersFromSecret: secrets.length === 0 ? undefined : identifiers,
  };
  return {
    place: {
      headerForward: hasPlain || secrets.length > 0 ? headers : undefined,
      caBundlePath: bundle?.path,
    },
    env: secrets.map(({ identifier, valueSecretRef }) => {
      return { name: SECRET_ENV.forwardedHeader(identifier), secret: valueSecretRef };
    }),
    bundle,
  };
}

function secretHeaders(entry: KubeObject) {
  const { remoteUrl: place, headerForward } = specOfEntry(entry);
  return (headerForward?.addHeadersFromSecret ?? []).map(({ headerName: header, valueSecretRef }) => {
    const identifier = variableSuffixOfPlace(entry.metadata.name, { place, header, secret: valueSecretRef });
    return { headerName: header, valueSecretRef, identifier };
  });
}
