// Describes the patterns of schemas in words, each with an example.

interface PatternMeaning {
  /** Words after "must be". */
  readonly meaning: string;
  readonly example: string;
}

const LABEL = { meaning: 'a name of lower case letters, digits and "-" between them', example: 'wiki-search' };
const URL_OF_HTTP = { meaning: 'an http or https URL', example: 'https://id.example.com' };
const VARIABLE = {
  meaning: 'a name of letters, digits and "_" that does not begin with a digit',
  example: 'CLIENT_SECRET',
};
const ADDRESS = { meaning: 'a host with a port', example: 'redis.example.com:6379' };

const MEANINGS: Readonly<Record<string, PatternMeaning>> = {
  '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$': { meaning: 'a duration with units', example: '1h30m' },
  '^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?$': {
    meaning: 'a quantity',
    example: '500m',
  },
  '^[-._a-zA-Z0-9]+$': { meaning: 'a key of letters, digits, "-", "_" and "."', example: 'tls.crt' },
  '^\\S+$': { meaning: 'a text without spaces', example: 'ghcr.io/example/wiki:1.0.0' },
  '^[ -<>-~]+$': { meaning: 'a name of printable ASCII characters without "="', example: 'LOG_LEVEL' },
  "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$": { meaning: 'the name of an HTTP header', example: 'X-Api-Key' },
  '^https?://[^\\s/?#]+([/?#]\\S*)?$': URL_OF_HTTP,
  '^https?://.*': URL_OF_HTTP,
  '^https?://.+$': URL_OF_HTTP,
  '^https?://': URL_OF_HTTP,
  '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]': URL_OF_HTTP,
  '^https://[^\\s/?#]+([/?#]\\S*)?$': { meaning: 'an https URL', example: 'https://id.example.com' },
  '^https://[^\\s?#]+[^/\\s?#]$': {
    meaning: 'an https URL without query, fragment and a slash at its end',
    example: 'https://id.example.com/register',
  },
  '^https?://[^?#]*[^/?#]$': {
    meaning: 'an http or https URL without query, fragment and a slash at its end',
    example: 'https://skep.example.com',
  },
  '^https://[^\\s?#]+$': { meaning: 'an https URL without query and fragment', example: 'https://id.example.com/back' },
  '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$': LABEL,
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$': LABEL,
  '^(\\[[0-9a-fA-F:.]+\\]|[^\\s:/\\[\\]]+):[0-9]{1,5}$': ADDRESS,
  '^([^:\\[\\]/\\s]+|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}$': ADDRESS,
  '^[a-z]{2}(-[a-z]+)+-[0-9]+$': { meaning: 'an AWS region', example: 'eu-central-1' },
  '^arn:[a-z-]+:iam::[0-9]{12}:role/[0-9A-Za-z_+=,.@/-]+$': {
    meaning: 'the ARN of an IAM role',
    example: 'arn:aws:iam::123456789012:role/reader',
  },
  '^(file:///|https?://|git@|ssh://|git://).*': {
    meaning: 'the URL of a Git repository, or git@host:path',
    example: 'https://git.example.com/team/registry.git',
  },
  '^((https?|ssh|git|file)://|([^/@:]+@)?[^/@:]+:/?[^/])': {
    meaning: 'the URL of a Git repository, or user@host:path',
    example: 'https://git.example.com/team/fleet.git',
  },
  '^.*\\.json$': { meaning: 'a path that ends in .json', example: 'registry.json' },
  '^[^=]+=': { meaning: 'a name and a value with "=" between them', example: 'x-tenant=blue' },
  '^[^:]+$': { meaning: 'a path without ":"', example: '/data' },
  '^[^,\\r\\n]+$': { meaning: 'a name without commas and line breaks', example: 'search_wiki' },
  '^[^,\\r\\n]*$': { meaning: 'a name without commas and line breaks', example: 'search_wiki' },
  '^[a-zA-Z0-9_.-]+$': { meaning: 'a name of letters, digits, "_", "-" and "."', example: 'open_ticket' },
  '^[a-zA-Z0-9][a-zA-Z0-9._-]*$': {
    meaning: 'a name of letters, digits, "_", "-" and "." that begins with a letter or digit',
    example: 'tickets_open',
  },
  '^[a-zA-Z_][a-zA-Z0-9_]*$': VARIABLE,
  '^[A-Za-z_][A-Za-z0-9_]*$': VARIABLE,
  '^(urn:ietf:params:oauth:token-type:)?(access_token|id_token|jwt)$': {
    meaning: 'access_token, id_token or jwt, or the URN of one of them',
    example: 'access_token',
  },
  '^([a-zA-Z_][a-zA-Z0-9_]*)?$': { meaning: 'the name of a claim: letters, digits and "_"', example: 'oid' },
  '^[^|@#*?\\\\]+([|]@upstreamjwt[|][^|@#*?\\\\]+)?$': {
    meaning: 'a path with dots, or one to a JWT and one in its claims with "|@upstreamjwt|" between them',
    example: 'authed_user.id',
  },
  '^[^\\x00-\\x08\\x0A-\\x1F\\x7F]*$': {
    meaning: 'a text without line breaks and control characters',
    example: 'office',
  },
  '^[0-9a-f]{40}$': { meaning: 'a commit id with all 40 digits', example: '41be9e2f0741be9e2f0741be9e2f0741be9e2f07' },
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?/)?[a-z0-9]([-.a-z0-9]*[a-z0-9])?$': {
    meaning: 'the name of a ServiceAccount, with its namespace if it is another one',
    example: 'team/fleet-sync',
  },
  '^(\\[[0-9a-fA-F:.]+\\]|[^/:@[\\]]+)$': { meaning: 'a host without a port', example: 'git.example.com' },
  '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$': { meaning: 'an IP address, or a range of them', example: '10.0.0.0/8' },
  '^[^*]+$': { meaning: 'a text without *', example: 'system:serviceaccount:jobs:nightly' },
  '^https?://[^\\s?#]+[^/\\s?#]$': {
    meaning: 'an http or https URL without query, fragment and a slash at its end',
    example: 'https://login.example.com',
  },
  '^[\\x20-\\x7e]+$': { meaning: 'a text of printable ASCII characters', example: 'Registry' },
  '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$': {
    meaning: 'a scope: printable ASCII characters without spaces, quotes and backslashes',
    example: 'registry:read',
  },
};

/** All patterns with a description. */
export const EXPLAINED_PATTERNS: ReadonlyMap<string, PatternMeaning> = new Map(Object.entries(MEANINGS));

/**
 * Returns the end of a sentence about a field, without a full stop, such as `must be a duration with units, such as
 * 1h30m`. Quotes a pattern that has no description.
 */
export function describePattern(pattern: string): string {
  const found = EXPLAINED_PATTERNS.get(pattern);
  return found === undefined
    ? `must match the pattern ${pattern}`
    : `must be ${found.meaning}, such as ${found.example}`;
}
