// Renders the form in which a reader who may only look enters a token that may act.

import { h } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useActing } from '../acting.ts';

export function TokenForm() {
  const acting = useActing();
  const id = useId();
  const [value, setValue] = useState('');
  const [isRefused, setRefused] = useState(false);
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (acting === undefined) return;
    acting.api.setToken(value.trim());
    const answer = await acting.api.session();
    if (!answer.ok) acting.api.setToken('');
    setRefused(!answer.ok);
    if (answer.ok) acting.reload();
  }
  return h(
    'form',
    { class: 'sign-in', onSubmit: submit },
    h('label', { for: id }, 'Token'),
    h('input', {
      ...{ id, type: 'password', autocomplete: 'off', spellcheck: false, required: true, value },
      onInput: (event: Event) => setValue((event.currentTarget as HTMLInputElement).value),
    }),
    h('p', { class: 'hint' }, 'The file token in the folder of skep dev has it. It stays in the memory of this page.'),
    isRefused ? h('p', { class: 'problem', role: 'alert' }, 'This is not the token of this start.') : null,
    h('button', { type: 'submit' }, 'Use the token'),
  );
}
