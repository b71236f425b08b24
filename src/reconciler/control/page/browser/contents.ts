// Renders links to the sections of a long page. They are buttons, because the fragment of the address names the view.

import { h } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Minimum number of sections that a reader would search for one. */
const SECTIONS_MIN = 4;

export function Contents() {
  const [titles, setTitles] = useState<readonly string[]>([]);
  useEffect(() => {
    const look = (): void => {
      const found = sections().map(headingText);
      setTitles((before) => (found.join('\n') === before.join('\n') ? before : found));
    };
    // Parts of the page appear when they have been read.
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true });
    look();
    return () => observer.disconnect();
  }, []);
  if (titles.length < SECTIONS_MIN) return null;
  return h(
    'nav',
    { class: 'contents', 'aria-label': 'On this page' },
    titles.map((title, index) =>
      h('button', { key: title, type: 'button', class: 'quiet small', onClick: () => show(index) }, title),
    ),
  );
}

function sections(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('.details section > h2')];
}

/** Returns the title without the count behind it. */
function headingText(heading: HTMLElement): string {
  return heading.firstChild?.textContent?.trim() ?? '';
}

function show(index: number): void {
  const heading = sections()[index];
  if (heading === undefined) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  heading.scrollIntoView();
}
