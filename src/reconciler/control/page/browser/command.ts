// Renders a command for the terminal of the reader. The console itself changes nothing.

import { h } from 'preact';
import { useState } from 'preact/hooks';

/** `words` are the words after the name of the program. */
export function Command({ words }: { readonly words: string }) {
  const text = decodeURIComponent(document.documentElement.dataset.command ?? '').replace('WORDS', () => words);
  return h(CommandText, { text });
}

/** Renders a command of any program. Names in it must be quoted for the shell. */
export function CommandText({ text }: { readonly text: string }) {
  const [said, setSaid] = useState('');
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied'),
      () => setSaid('The browser does not let the page copy: select the command'),
    );
  };
  return h(
    'span',
    { class: 'command' },
    h('code', null, text),
    ' ',
    h('button', { type: 'button', class: 'small', 'aria-label': `Copy ${text}`, onClick: copy }, 'Copy'),
    h('span', { role: 'status' }, said === '' ? '' : ` ${said}`),
  );
}
