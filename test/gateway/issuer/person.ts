// Simulates a person with a browser without scripts: stores cookies by host, follows redirects, and answers the consent
// page with a given decision.

export interface Person {
  /** Follows redirects. Returns the client's redirect URI, or the page at which the redirects end. */
  visit(url: string): Promise<Place>;
  readonly cookies: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export interface Place {
  /** URL of the page, or the client's redirect URI with parameters. */
  readonly url: URL;
  /** Status of the page. 0 for the client's redirect URI, which is not requested. */
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** All visited URLs, including the last one. */
  readonly trail: readonly string[];
}

export interface PersonOptions {
  /** Decision on the consent page. For `look`, the person stays on the page. */
  readonly decision?: 'allow' | 'deny' | 'look';
  /** Redirect URI of the client. */
  readonly client?: string;
  /** Existing cookies, by host and name. */
  readonly cookies?: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export const CLIENT_REDIRECT = 'http://127.0.0.1:33418/callback';

const STEPS_MAX = 30;

export function newPerson({
  decision = 'allow',
  client = CLIENT_REDIRECT,
  cookies: earlier = new Map(),
}: PersonOptions = {}): Person {
  const jar = new Map([...earlier].map(([host, cookies]) => [host, new Map(cookies)]));

  async function ask(url: URL, form?: URLSearchParams): Promise<Response> {
    const cookies = jar.get(url.host) ?? new Map<string, string>();
    jar.set(url.host, cookies);
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', origin: url.origin }),
      },
      ...(form === undefined ? {} : { body: form.toString() }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const equals = pair.indexOf('=');
      cookies.set(pair.slice(0, equals), pair.slice(equals + 1));
    }
    return response;
  }

  return {
    cookies: jar,
    async visit(first) {
      let url = new URL(first);
      let form: URLSearchParams | undefined;
      const trail: string[] = [];
      for (let step = 0; step < STEPS_MAX; step += 1) {
        trail.push(url.href);
        if (url.href.startsWith(client)) return { url, status: 0, headers: new Headers(), text: '', trail };
        const response = await ask(url, form);
        const text = await response.text();
        const next = nextOf(url, response, text, decision);
        if (next === undefined) return { url, status: response.status, headers: response.headers, text, trail };
        ({ url, form } = next);
      }
      throw new Error(`the browser goes in circles: ${trail.join(' ')}`);
    },
  };
}

interface Next {
  readonly url: URL;
  readonly form?: URLSearchParams;
}

function nextOf(url: URL, response: Response, text: string, decision: 'allow' | 'deny' | 'look'): Next | undefined {
  const location = response.headers.get('location');
  if (location !== null) return { url: new URL(location, url) };
  const [, refresh] = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(text) ?? [];
  if (refresh !== undefined) return { url: new URL(unescapeHtml(refresh), url) };
  const [, action] = /<form method="post" action="([^"]*oauth\/consent)"/.exec(text) ?? [];
  if (action === undefined || decision === 'look') return undefined;
  return { url: new URL(action, url), form: new URLSearchParams({ pending: pendingOf(text), decision }) };
}

export function pendingOf(text: string): string {
  return /name="pending" value="([^"]*)"/.exec(text)?.[1] ?? '';
}

function unescapeHtml(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
