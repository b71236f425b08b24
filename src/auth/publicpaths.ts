// Decides which paths need no token, and normalises paths, so that this check and the router read the same form.

/** Paths that are always public, with all paths below them. */
const ALWAYS_PUBLIC = ['/health', '/readiness', '/version', '/.well-known'] as const;

/**
 * Returns the request target (path and query) without scheme, authority and fragment. Dot segments, also encoded ones,
 * are resolved as in RFC 3986 section 5.2.4. All other characters stay encoded as the client sent them.
 */
export function normaliseTarget(target: string): string {
  const [withoutFragment = ''] = target.split('#', 1);
  const relative = withoutFragment.replace(/^https?:\/\/[^/?]*/i, '');
  const queryStart = relative.indexOf('?');
  const path = queryStart === -1 ? relative : relative.slice(0, queryStart);
  const query = queryStart === -1 ? '' : relative.slice(queryStart);
  return `${resolveDots(path)}${query}`;
}

/** `target`: result of `normaliseTarget`. `publicPaths`: unencoded; each includes all paths below it. */
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
    // `/a/..` names the folder, not a file: the slash stays.
    if (index === segments.length - 1) resolved.push('');
  }
  return `/${resolved.join('/')}`;
}

/** Returns undefined if the path is ambiguous: bad or double encoding, or a slash inside a segment. */
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
