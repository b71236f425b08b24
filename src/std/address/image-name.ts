// Parses names of container images into registry, repository, tag and digest, with the defaults of container runtimes.

export interface ImageName {
  /** Host, with a port if the name has one, such as ghcr.io. */
  readonly registry: string;
  readonly repository: string;
  /** Absent if the name has a digest but no tag. */
  readonly tag?: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest?: string;
}

const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const REPOSITORY = new RegExp(`^${COMPONENT}(?:/${COMPONENT})*$`);
const HOST =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-f:]+\])(?::[0-9]{1,5})?$/;
const TAG = /^[\w][\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Registry of names without a registry (Docker, "docker pull"). */
const DEFAULT_REGISTRY = 'docker.io';

/** Returns undefined if the text is not an image name, or if its digest is not a SHA-256. */
export function parseImageName(text: string): ImageName | undefined {
  const at = text.indexOf('@');
  const [named, digest] = at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
  if (digest !== undefined && !DIGEST.test(digest)) return undefined;
  const colon = named.lastIndexOf(':');
  const isTagged = colon > named.lastIndexOf('/');
  const [path, tag] = isTagged ? [named.slice(0, colon), named.slice(colon + 1)] : [named];
  if (tag !== undefined && !TAG.test(tag)) return undefined;
  const place = splitPath(path);
  if (!HOST.test(place.registry) || place.repository.length > 255 || !REPOSITORY.test(place.repository))
    return undefined;
  if (digest !== undefined) return { ...place, ...(tag === undefined ? {} : { tag }), digest };
  return { ...place, tag: tag ?? 'latest' };
}

/** Separates registry and repository. The first part is a registry if it has a dot or a port, or is localhost. */
function splitPath(path: string): Pick<ImageName, 'registry' | 'repository'> {
  const slash = path.indexOf('/');
  const first = slash === -1 ? '' : path.slice(0, slash);
  if (first === 'index.docker.io') return splitPath(`${DEFAULT_REGISTRY}/${path.slice(slash + 1)}`);
  if (/[.:]|^localhost$/.test(first)) {
    const rest = path.slice(slash + 1);
    const repository = first === DEFAULT_REGISTRY && !rest.includes('/') ? `library/${rest}` : rest;
    return { registry: first, repository };
  }
  return { registry: DEFAULT_REGISTRY, repository: slash === -1 ? `library/${path}` : path };
}

/** Returns the full name without tag and digest, such as docker.io/library/nginx. */
export function imagePlace({ registry, repository }: ImageName): string {
  return `${registry}/${repository}`;
}

/** Returns the text without the digest. */
export function withoutDigest(image: string): string {
  return image.split('@', 1)[0] ?? '';
}

/** Returns the text with the digest appended. A text that has a digest stays unchanged. */
export function withDigest(image: string, digest: string): string {
  return image.includes('@') ? image : `${image}@${digest}`;
}
