// Renders the form in which a reader enters the token of the reconciler.

import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from './api.ts';

interface Props {
  readonly api: Api;
  /** Reason why the last token was refused; empty if no token was refused. */
  readonly reported: string;
  readonly open: () => Promise<boolean>;
}

export function SignIn({ api, reported, open }: Props) {
  const [value, setValue] = useState('');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    api.setToken(value.trim());
    await open();
    input.current?.focus();
  }
  return h(
    'main',
    { class: 'page narrow' },
    h('h1', null, 'The console needs a token'),
    h(
      'form',
      { class: 'sign-in', onSubmit: submit },
      h('label', { for: 'token' }, 'Token'),
      h('input', {
        ...{ ref: input, id: 'token', type: 'password', autocomplete: 'off', spellcheck: false, required: true, value },
        onInput: (event: Event) => setValue((event.currentTarget as HTMLInputElement).value),
      }),
      h(
        'p',
        { class: 'hint' },
        'A line of the file that http.tokenFile names. It stays in the memory of this page and is forgotten when you reload or leave it.',
      ),
      reported === '' ? null : h('p', { class: 'problem', role: 'alert' }, reported),
      h('button', { type: 'submit', class: 'primary' }, 'Open the console'),
    ),
  );
}
