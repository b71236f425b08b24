// Shows the search field. Searches when the reader pauses typing or presses Enter.

import { element } from '#std/page/shared/elements.ts';

export interface SearchForm {
  readonly node: HTMLElement;
  show(search: string): void;
  focus(): void;
  stop(): void;
}

const PAUSE_MS = 200;
/** Maximum length that the API accepts. */
const LENGTH_MAX = 255;

export function createSearchForm(changed: (search: string) => void): SearchForm {
  let pause: ReturnType<typeof setTimeout> | undefined;
  const input = element('input', {
    type: 'search',
    id: 'search',
    name: 'search',
    maxlength: String(LENGTH_MAX),
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    placeholder: 'Names, tags, tools, descriptions',
    'aria-keyshortcuts': '/',
  });
  const node = element(
    'form',
    { role: 'search', class: 'search' },
    element('label', { for: 'search' }, 'Search servers'),
    input,
  );

  function change(): void {
    clearTimeout(pause);
    pause = undefined;
    // A reader can type an unpaired surrogate, but a URL cannot contain it.
    changed(input.value.trim().toWellFormed());
  }

  input.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(change, PAUSE_MS);
  });
  /** Moves the focus to the search field when the reader presses `/` outside of fields. */
  function toSearch(event: KeyboardEvent): void {
    const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey || !node.isConnected) return;
    event.preventDefault();
    input.focus();
    input.select();
  }

  document.addEventListener('keydown', toSearch);
  node.addEventListener('submit', (event) => {
    event.preventDefault();
    change();
  });
  return {
    node,
    show(search) {
      // Text that the reader is typing is newer than the URL.
      if (pause === undefined && input.value.trim() !== search) input.value = search;
    },
    focus() {
      input.value = '';
      input.focus();
    },
    stop() {
      clearTimeout(pause);
      document.removeEventListener('keydown', toSearch);
    },
  };
}
