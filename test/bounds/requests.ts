// Requests that are as expensive for their size as a stranger can make them: heads, queries and bodies of the allowed size with
// many names, deep nesting, one long value, many equal items. A test sends them to every route.

export interface Costly {
  readonly what: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** It is answered with 413 after it was read; others must not be. */
  readonly refused?: true | undefined;
  /** Made when it is sent: all together are gigabytes. */
  readonly body?: () => string;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Texts of three characters, all different. */
function names(count: number): readonly string[] {
  const letter = (at: number) => LETTERS[at % LETTERS.length] ?? '';
  return Array.from(
    { length: count },
    (_, at) => letter(at) + letter(Math.floor(at / 36)) + letter(Math.floor(at / 1296)),
  );
}

/** Lists that servers split, look up or match: each is filled to the size of the head. */
const LISTS: readonly (readonly [header: string, item: string, before?: string])[] = [
  ['accept', 'text/html;q=0.1,'],
  ['accept-encoding', 'gzip;q=0.5;q=0,'],
  ['access-control-request-headers', 'mcp-param-a,'],
  ['authorization', ' ', 'Bearer a'],
  ['baggage', 'a=b,'],
  ['connection', 'x,'],
  ['content-type', 'application/json;'],
  ['cookie', 'skep-browser=a;'],
  ['if-none-match', '"a",'],
  ['mcp-name', '=?base64?'],
  ['mcp-session-id', 'a'],
  ['tracestate', 'a=b,'],
  ['webhook-signature', 'v1,a '],
  ['x-forwarded-for', '10.0.0.1,'],
  ['x-forwarded-host', 'a.'],
  ['x-forwarded-prefix', '/', 'a'],
];

const FIELD_BYTES = 40;

/** `bytes`: of the whole head. */
export function costlyHeads(path: string, bytes: number): readonly Costly[] {
  const room = bytes - path.length - 600;
  const lists = LISTS.map(([header, item, before = '']): Costly => {
    // A text whose end differs from its repeated part makes a backtracking matcher start again at every place.
    return {
      what: `head: ${header}`,
      target: path,
      headers: { [header]: `${before}${fill(item, room - header.length - 10)}!` },
    };
  });
  // Node adds some to the size of each field, and takes no more than 2,000 of them.
  const fields = names(Math.floor(room / FIELD_BYTES)).slice(0, 1900);
  const many = Object.fromEntries(fields.map((name) => [`x-${name}`, 'a']));
  const token = `${'A'.repeat(Math.floor(room / 2))}.${'A'.repeat(Math.floor(room / 3))}.A`;
  return [
    ...lists,
    { what: 'head: many fields', target: path, headers: many },
    { what: 'head: a long token', target: path, headers: { authorization: `Bearer ${token}` } },
  ];
}

/** `bytes`: of the target. */
export function costlyQueries(path: string, bytes: number): readonly Costly[] {
  const room = bytes - path.length - 600;
  const queries: readonly (readonly [string, string])[] = [
    ['many names', names(Math.floor(room / 4)).join('&')],
    ['one name again and again', fill('state&', room)],
    ['many resources', fill('resource=a&', room)],
    ['many tags', fill('x-tag=a&', room)],
    ['one long value', `search=${fill('a', room)}`],
    ['a long cursor', `cursor=${fill('a', room - 10)}&session_id=a`],
    ['escapes', `search=${fill('%41', room)}`],
    ['a long redirect URI', `client_id=a&redirect_uri=${fill('/', room - 40)}`],
  ];
  return [
    ...queries.map(([what, query]) => ({ what: `query: ${what}`, target: `${path}?${query}`, headers: {} })),
    { what: 'path: many segments', target: `${path}${fill('/a', room)}`, headers: {} },
    { what: 'path: many dots', target: `${path}${fill('/%2e%2e', room)}`, headers: {} },
    { what: 'path: one long segment', target: `${path}/${fill('a', room)}`, headers: {} },
  ];
}

/** Secret that signs genuine webhooks. */
export const WEBHOOK_SECRET = 'a-secret';

/** Bodies of any route: forms and JSON. */
export function costlyBodies(path: string, bytes: number): readonly Costly[] {
  const form = 'application/x-www-form-urlencoded';
  const forms: readonly (readonly [string, string])[] = [
    ['many names', names(Math.floor(bytes / 4)).join('&')],
    ['one name again and again', fill('a&', bytes)],
    ['many resources', fill('resource=a&', bytes)],
    ['one long value', `grant_type=${fill('a', bytes - 20)}`],
    ['many scopes', `client_id=a&grant_type=refresh_token&scope=${names(Math.floor((bytes - 60) / 4)).join('+')}`],
    ['a long code', `client_id=a&grant_type=authorization_code&code=skc_${fill('a', bytes - 60)}`],
    ['a long assertion', `client_assertion=${fill('a', bytes - 30)}.a.a`],
  ];
  return [
    ...forms.map(([what, body]) => ({
      what: `form: ${what}`,
      target: path,
      headers: { 'content-type': form },
      body: () => body,
    })),
    ...jsonValues(bytes - 100).map(({ what, text }) => ({
      what: `JSON: ${what}`,
      target: path,
      headers: { 'content-type': 'application/json' },
      body: () => `{"redirect_uris":["https://a/"],"x":${text()}}`,
    })),
    {
      what: 'JSON: many redirect URIs',
      target: path,
      headers: { 'content-type': 'application/json' },
      body: () => `{"redirect_uris":[${fill('"https://a/",', bytes - 100)}"https://a/"]}`,
    },
    {
      what: 'JSON: many grant types',
      target: path,
      headers: { 'content-type': 'application/json' },
      body: () =>
        `{"redirect_uris":["https://a/"],"grant_types":["authorization_code"${fill(',"refresh_token"', bytes - 100)}]}`,
    },
    {
      what: 'JSON: a push to a long URL',
      target: path,
      headers: { 'content-type': 'application/json', 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': WEBHOOK_SECRET },
      body: () => `{"ref":"refs/heads/main","repository":{"clone_url":"https://a/${fill('/', bytes - 200)}a"}}`,
    },
  ];
}

export interface JsonValue {
  readonly what: string;
  readonly text: () => string;
}

/** JSON values of about that size. */
export function jsonValues(bytes: number): readonly JsonValue[] {
  const keys = (each: string) =>
    `{${Array.from({ length: Math.floor(bytes / (each.length + 8)) }, (_, at) => `"${at.toString(36)}":${each}`).join()}}`;
  const depth = 200;
  const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
  return [
    { what: 'many keys', text: () => keys('1') },
    { what: 'many small records', text: () => list(bytes, (at) => `{"a":${at}}`) },
    { what: 'many equal records', text: () => list(bytes, () => '{"a":1}') },
    { what: 'many numbers', text: () => list(bytes, () => '1') },
    { what: 'many decimals', text: () => list(bytes, (at) => `${at}.25`) },
    { what: 'a number beyond 2^53 among many', text: () => list(bytes, (at) => (at === 0 ? '1'.repeat(19) : '1')) },
    { what: 'many short texts', text: () => list(bytes, (at) => `"${at.toString(36)}"`) },
    { what: 'nested lists', text: () => list(bytes, () => nested) },
    { what: 'nested objects', text: () => list(bytes, () => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) },
    { what: 'one long text', text: () => `"${fill('a', bytes)}"` },
    { what: 'one long text of escapes', text: () => `"${fill('\\u0041', bytes)}"` },
    { what: 'one long number', text: () => fill('1', bytes) },
    { what: 'too deep', text: () => `${fill('[', bytes / 2)}${fill(']', bytes / 2)}` },
    { what: 'space', text: () => `${fill(' ', bytes)}1` },
    { what: 'a key twice', text: () => `{"a":1,"b":${list(bytes - 30, () => '{"a":1}')},"a":2}` },
  ];
}

function list(bytes: number, item: (at: number) => string): string {
  const items: string[] = [];
  let left = bytes - 2;
  for (let at = 0; ; at += 1) {
    const text = item(at);
    left -= text.length + 1;
    if (left < 0) return `[${items.join()}]`;
    items.push(text);
  }
}

function fill(item: string, bytes: number): string {
  return item.repeat(Math.max(1, Math.floor(bytes / item.length)));
}
