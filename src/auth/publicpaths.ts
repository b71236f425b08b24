// Decides which paths need no token. Normalises paths, so that this check and the router read the same path.

/** Always public, including all paths below them. */
const ALWAYS_PUBLIC = ['/health', '/readiness', '/version', '/.well-known'] as const;

/**
 * Returns path and query of a request target without scheme, authority and fragment. Resolves dot segments, including
 * encoded ones (RFC 3986 section 5.2.4). Other characters keep their encoding.
 */
export function normaliseTarget(target: string): string {
  const [withoutFragment = ''] = target.split('#', 1);
  const relative = withoutFragment.replace(/^https?:\/\/[^/?]*/i, '');
  const queryStart = relative.indexOf('?');
  const path = queryStart === -1 ? relative : relative.slice(0, queryStart);
  const query = queryStart === -1 ? '' : relative.slice(queryStart);
  return `${resolveDots(path)}${query}`;
}

/** `target` is a result of `normaliseTarget`. `publicPaths` are unencoded, and include all paths below them. */
export function isPublic(target: string, publicPaths: readonly string[]): boolean {
  const [path = ''] = target.split('?', 1);
  const segments = decodedSegments(path);
  if (segments === undefined) return false;
  return [...ALWAYS_PUBLIC, ...publicPaths].some((publicPath) => startsWith(segments, segmentsOf(publicPath)));
}

function resolveDots(path: string): string {
  const resolved: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    const dots = segment.replaceAll(/%2e/gi, '.');
    if (dots !== '.' && dots !== '..') {
      resolved.push(segment);
      continue;
    }
    if (dots === '..') resolved.pop();
    // `/a/..` names a folder, so the result ends with a slash.
    if (index === segments.length - 1) resolved.push('');
  }
  return `/${resolved.join('/')}`;
}

/** Returns undefined if the path is ambiguous: invalid or double encoding, or a slash within a segment. */
function decodedSegments(path: string): readonly string[] | undefined {
  const decoded: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    const text = decode(segment);
    if (text === undefined || /[/\\]|%2f|%2e|%5c/i.test(text)) return undefined;
    decoded.push(text);
  }
  return decoded;
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function segmentsOf(publicPath: string): readonly string[] {
  return publicPath.split('/').filter((segment) => segment !== '');
}

function startsWith(segments: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((segment, index) => segments[index] === segment);
}
