// A person with a browser: opens the page of a login, says a name, and follows where the issuer sends the browser. Stands in
// for the program that BROWSER names; the name that it says, or `refuse`, is in the file of WHO.

import { readFileSync } from 'node:fs';

const cookies = new Map<string, string>();

async function visit(url: URL, form?: URLSearchParams): Promise<{ at: URL; text: string }> {
  const response = await fetch(url, {
    method: form === undefined ? 'GET' : 'POST',
    body: form,
    redirect: 'manual',
    headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
  });
  for (const cookie of response.headers.getSetCookie()) {
    const [pair = ''] = cookie.split(';', 1);
    cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
  }
  const location = response.headers.get('location');
  const text = await response.text();
  return location === null ? { at: url, text } : visit(new URL(location, url));
}

const who = readFileSync(process.env.WHO ?? '', 'utf8').trim();
const { at, text } = await visit(new URL(process.argv[2] ?? ''));
const action = /action="([^"]+)"/.exec(text)?.[1];
if (action !== undefined) {
  const form = new URLSearchParams({ name: who, answer: who === 'refuse' ? 'refuse' : 'allow' });
  await visit(new URL(action, at), form);
}
