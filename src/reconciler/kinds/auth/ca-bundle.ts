// Defines certificate authorities in a ConfigMap, for requests to identity providers: the field, the reference, and the
// mount in the pod.

import { X509Certificate } from 'node:crypto';
import { configMapBytes, hasEntry } from '#kubernetes/rules/content.ts';
import { object, optional, type Static } from '#std/schema.ts';
import type { Reference, View } from '../kind.ts';
import { type Mounted, mountedConfigMap, volumeName } from '../pods/pod.ts';
import { configMapKeyWithDefault } from '../selectors.ts';

/** Defines a CABundleSource. `requests`: the requests to which the certificates apply, for the description. */
export function caBundleRef(requests: string) {
  return object(
    { configMapRef: optional(configMapKeyWithDefault('ConfigMap entry with the certificates.', 'ca.crt')) },
    `Certificate authorities, in PEM, to trust for ${requests}. Mounted for you.`,
  );
}

type CaBundleSource = Static<ReturnType<typeof caBundleRef>>;

export interface Bundle {
  readonly configMap: string;
  /** Path of the certificates in the container. */
  readonly path: string;
}

/** Returns undefined if optional certificates are missing, because pods would wait for their ConfigMap. */
export function bundleOf(source: CaBundleSource | undefined, view: View): Bundle | undefined {
  if (source?.configMapRef === undefined) return undefined;
  const { name, key, optional } = source.configMapRef;
  const found = view.find('ConfigMap', name);
  const exists = found !== undefined && hasEntry(found, key);
  if (optional === true && !exists) return undefined;
  return { configMap: name, path: `${directoryOf(name)}/${key}` };
}

/** `pointer`: pointer of the CABundleSource. */
export function bundleReferences(source: CaBundleSource | undefined, pointer: string): readonly Reference[] {
  if (source?.configMapRef === undefined) return [];
  const { name, key, optional } = source.configMapRef;
  const place = `${pointer}/configMapRef`;
  return [{ pointer: place, kind: 'ConfigMap', name, key, optional: optional === true ? 'allowed' : undefined }];
}

/**
 * Returns the reason why an entry of an existing ConfigMap contains no certificates. Ignores references to other kinds.
 */
export function certificatesFault({ kind, name, key }: Reference, view: View): string | undefined {
  if (kind !== 'ConfigMap' || key === undefined) return undefined;
  const bytes = configMapBytes(view.find('ConfigMap', name), key);
  if (bytes === undefined || isCertificate(bytes)) return undefined;
  return `ConfigMap ${name} with key ${key} contains no PEM certificate`;
}

/** Returns whether the first certificate in the text is valid. Later certificates are not checked. */
function isCertificate(bytes: Buffer): boolean {
  if (!bytes.includes('-----BEGIN CERTIFICATE-----')) return false;
  try {
    return new X509Certificate(bytes).subject !== undefined;
  } catch {
    // The constructor of X509Certificate throws only if the bytes are not a certificate.
    return false;
  }
}

/** Returns one mount for each ConfigMap, even if several settings name it. */
export function mountedBundles(bundles: readonly (Bundle | undefined)[]): readonly Mounted[] {
  const names = new Set(bundles.flatMap((bundle) => bundle?.configMap ?? []));
  return [...names].map((name) => mountedConfigMap(volumeName('oidc-ca-bundle', name), directoryOf(name), { name }));
}

function directoryOf(configMap: string): string {
  return `/config/certs/${configMap}`;
}
