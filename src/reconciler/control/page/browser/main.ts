// Starts the console in the page.

import { h, render } from 'preact';
import { byId } from '#std/page/shared/elements.ts';
import { createApi } from './api.ts';
import { Console } from './console.ts';

<<<<<<< HEAD
const root = byId('console');
root.replaceChildren();
render(h(Console, { api: createApi() }), root);
=======
const api = createApi();
const main = byId('main');
const announcer = byId('announcer');

function announce(text: string): void {
  announcer.textContent = text;
}

function showContent(...content: readonly Node[]): void {
  main.replaceChildren(...content);
}

async function load(): Promise<void> {
  announce('loading');
  const answer = await api.runs();
  if (!answer.ok) {
    if (answer.refused) signIn(api.hasToken() ? 'The reconciler does not know this token.' : undefined);
    else
      showContent(
        element(
          'p',
          { class: 'notice', role: 'alert' },
          `The runs cannot be shown: ${answer.says}. `,
          button('Try again', () => void load()),
        ),
      );
    return;
  }
  const { runs } = answer.body;
  const title = element(
    'h1',
    { tabindex: '-1' },
    runs.length === 0
      ? 'No run has been recorded yet'
      : runs.length === 1
        ? 'The last run'
        : `The last ${runs.length} runs`,
  );
  const views = runs.map((run, index) => runView(api, run, index === 0, announce));
  byId('controls').replaceChildren(button('Look again', () => void load()));
  showContent(
    title,
    element(
      'p',
      { class: 'hint' },
      'A run is listed if it changed something, or found another state than the run before.',
    ),
    ...views,
  );
  title.focus();
  announce(runs.length === 1 ? '1 run' : `${runs.length} runs`);
}

function signIn(reported: string | undefined): void {
  api.setToken('');
  const input = element('input', {
    type: 'password',
    id: 'token',
    autocomplete: 'off',
    spellcheck: 'false',
    required: '',
  });
  const form = element(
    'form',
    {},
    element('label', { for: 'token' }, 'Token'),
    input,
    element(
      'p',
      { class: 'hint' },
      'A line of the file that http.tokenFile names. It stays in the memory of this page and is forgotten when you reload or leave it.',
    ),
    ...(reported === undefined ? [] : [element('p', { class: 'problem', role: 'alert' }, reported)]),
    element('button', { type: 'submit', class: 'primary' }, 'Show the runs'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    api.setToken(input.value.trim());
    void load();
  });
  showContent(element('h1', {}, 'The runs need a token'), form);
  input.focus();
}

void load();
>>>>>>> main
