// Renders the header that all pages share: a link past the header, the name of the page, its views, and its own controls.

import { type ComponentChildren, h } from 'preact';

interface PageView {
  readonly label: string;
  readonly href: string;
  readonly isCurrent?: boolean;
}

interface Props {
  readonly title: string;
  /** Address of the first view. */
  readonly home: string;
  readonly views: readonly PageView[];
  readonly children?: ComponentChildren;
}

export function PageHeader({ title, home, views, children }: Props) {
  const links = views.map(({ label, href, isCurrent = false }) =>
    h('a', { key: label, href, 'aria-current': isCurrent ? 'page' : undefined }, label),
  );
  return h(
    'header',
    { class: 'bar' },
    h('button', { type: 'button', class: 'skip', onClick: skip }, 'Skip to content'),
    h('a', { class: 'brand', href: home }, h(Logo, null), h('span', { class: 'text' }, title)),
    links.length === 0 ? null : h('nav', { 'aria-label': 'Views' }, links),
    children,
  );
}

function skip(): void {
  document.querySelector<HTMLElement>('main')?.focus();
}

function Logo() {
  return h(
    'svg',
    { viewBox: '0 0 24 24', width: 24, height: 24, 'aria-hidden': true },
    h('path', {
      class: 'hive',
      d: 'M12 2c-4.200 0-7 2.700-7 5.200 0 .7.2 1.300.5 1.900C4 10 3.200 11.300 3.200 12.800c0 1 .4 1.900 1 2.600-.7.700-1.200 1.600-1.200 2.600C3 20.300 5 22 7.500 22h9c2.500 0 4.500-1.700 4.500-4 0-1-.5-1.900-1.200-2.600.6-.7 1-1.600 1-2.600 0-1.500-.8-2.800-2.300-3.700.3-.6.5-1.200.5-1.900C19 4.700 16.200 2 12 2Z',
    }),
    h('path', { class: 'weave', d: 'M6 9.300h12M4.600 15.300h14.800' }),
    h('path', { class: 'door', d: 'M9.800 22v-2.300a2.200 2.200 0 0 1 4.400 0V22Z' }),
  );
}
