// Which paths need no token, and the one form of a path that both this question and the router are asked with.

/** Always public, with everything below them. */
const ALWAYS_PUBLIC = ['/health', '/readiness', '/version', '/.well-known'] as const;

/**
 * The request target (path and query) with dot segments resolved as RFC 3986 section 5.2.4 says, encoded ones included,
 * without scheme, authority and fragment. Everything else stays encoded as it came.
 */
export function normaliseTarget(target: string): string {
  const [withoutFragment = ''] = target.split('#', 1);
  const relative = withoutFragment.replace(/^https?:\/\/[^/?]*/i, '');
  const queryStart = relative.indexOf('?');
  const path = queryStart === -1 ? relative : relative.slice(0, queryStart);
  const query = queryStart === -1 ? '' : relative.slice(queryStart);
  return `${resolveDots(path)}${query}`;
}

/** `target`: as `normaliseTarget` returns it. `publicPaths`: unencoded; each stands for itself and all below it. */
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

/** Undefined where the path could be read in two ways: bad or double encoding, or a slash inside a segment. */
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
