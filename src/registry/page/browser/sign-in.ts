// Asks the reader for a token, and shows the issuers of tokens (RFC 9728). The token is only in memory, so a reload
// loses it.

import { element, list } from '#std/page/shared/elements.ts';
import type { Api } from './api.ts';
import { title, webLink } from './dom.ts';
import { members, text, texts } from './json.ts';

/** `reported` says why the last token was refused. */
export function signInView(api: Api, reported: HTMLElement | undefined, done: () => void): HTMLElement {
  const input = element('input', {
    type: 'password',
    id: 'token',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
    'aria-describedby': 'token-hint token-problem',
  });
  const problem = element('p', { id: 'token-problem', class: 'problem', role: 'alert' });
  const form = element(
    'form',
    { class: 'sign-in' },
    element('label', { for: 'token' }, 'Access token'),
    input,
    element(
      'p',
      { id: 'token-hint', class: 'hint' },
      'It stays in the memory of this page and is lost when you reload or leave it.',
    ),
    problem,
    element('button', { type: 'submit', class: 'primary' }, 'Show the catalogue'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const token = input.value.trim().replace(/^Bearer +/i, '');
    if (!/^[\x21-\x7e]+$/.test(token)) {
      problem.textContent = 'This is not a token: it must be one word, without spaces or line breaks. Copy it again.';
      input.setAttribute('aria-invalid', 'true');
      input.focus();
      return;
    }
    api.setToken(token);
    done();
  });
  const sources = element('div', {});
  void showSources(api, sources);
  return element('div', { class: 'narrow' }, title('This registry asks for a token'), reported, form, sources);
}

/** Shows the issuers of tokens. Shows nothing if the issuers cannot be read, because the list is only a help. */
async function showSources(api: Api, into: HTMLElement): Promise<void> {
  const answer = await api.get('.well-known/oauth-protected-resource', new AbortController().signal);
  if (!answer.ok) return;
  const { authorization_servers, resource, resource_documentation } = members(answer.body);
  const issuers = texts(authorization_servers).map(webLink);
  const documentation = text(resource_documentation);
  const audience = text(resource);
  into.replaceChildren(
    element('h2', {}, 'How to get one'),
    element('p', {}, issuers.length === 1 ? 'Tokens are issued by:' : 'Tokens are issued by any of:'),
    list(issuers),
    ...(audience === undefined
      ? []
      : [element('p', {}, 'They must be meant for: ', element('code', { class: 'text' }, audience))]),
    ...(documentation === undefined ? [] : [element('p', {}, 'How: ', webLink(documentation))]),
  );
}
