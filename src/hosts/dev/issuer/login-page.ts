// Renders the login page of the sample issuer, on which users enter a name.

export interface LoginQuestion {
  readonly action: string;
  /** Name under which the client registered itself. Anyone can register under any name. */
  readonly client: string;
  /** URL to which the browser returns after the login. */
  readonly redirectUri: string;
  readonly resource: string;
}

/**
 * Forbids scripts, requests to other hosts, and frames. In a frame, another site could show the page and trick users
 * into clicking.
 */
export const LOGIN_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

export function loginPage({ action, client, redirectUri, resource }: LoginQuestion): string {
  const use = resource === '' ? 'know who you are' : `use <code>${escapeHtml(resource)}</code> in your name`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Log in to the sample fleet</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem; color-scheme: light dark }
  input, button { font: inherit; padding: .4rem .8rem }
  code { overflow-wrap: anywhere }
</style>
<h1>Log in to the sample fleet</h1>
<p><strong>${escapeHtml(client)}</strong> wants to ${use}. Afterwards you go back to
<code>${escapeHtml(redirectUri)}</code>.</p>
<p>This issuer belongs to <code>skep dev</code>: it does not ask for a password. Enter any name; <code>guest</code> may only read.</p>
<form method="post" action="${escapeHtml(action)}" autocomplete="off">
  <label>Name <input name="name" value="me" required pattern="[A-Za-z0-9._@\\-]{1,64}" autofocus></label>
  <button name="answer" value="allow">Log in and allow</button>
  <button name="answer" value="refuse" formnovalidate>Refuse</button>
</form>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
