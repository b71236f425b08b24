// Renders the way in: the link to the provider of the login, and the form in which a reader enters a token.

import { h, type Ref } from 'preact';
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
  const { login = '' } = document.documentElement.dataset;
  const form = h(TokenFields, { value, setValue, input, submit, reported });
  if (login === '') return h('main', { class: 'page narrow' }, h('h1', null, 'The console needs a token'), form);
  const reason = FAILURES.get(location.hash.replace('#/sign-in/', ''));
  return h(
    'main',
    { class: 'page narrow' },
    h('h1', null, 'Log in to the console'),
    reason === undefined ? null : h('p', { class: 'banner', role: 'alert' }, reason),
    h('p', null, h('a', { class: 'primary log-in', href: 'login', onClick: keepPlace }, `Log in at ${login}`)),
    h('details', { open: reported !== '' }, h('summary', null, 'Use a token instead'), form),
  );
}

const FAILURES: ReadonlyMap<string, string> = new Map([
  ['unknown', 'The login took too long, or began in another browser. Log in again.'],
  ['no-role', 'You are logged in, and no rule of http.login.roles gives you a role here.'],
  ['unavailable', 'The provider does not answer. Try again soon.'],
  ['refused', 'The provider refused the login, or its answer was not right. The log of the reconciler has the reason.'],
]);

/** Key of the place to which a reader returns after the login. Fragments are not sent to the provider. */
const PLACE = 'skep-place';

function keepPlace(): void {
  const { hash } = location;
  if (!hash.startsWith('#/sign-in')) sessionStorage.setItem(PLACE, hash);
}

/** Returns to the place before the login. */
export function restorePlace(): void {
  const place = sessionStorage.getItem(PLACE);
  sessionStorage.removeItem(PLACE);
  if (place?.startsWith('#/') === true && location.hash === '') history.replaceState(null, '', place);
}

interface FieldsProps {
  readonly value: string;
  readonly setValue: (value: string) => void;
  readonly input: Ref<HTMLInputElement>;
  readonly submit: (event: Event) => unknown;
  readonly reported: string;
}

function TokenFields({ value, setValue, input, submit, reported }: FieldsProps) {
  return h(
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
  );
}
