// Renders the header of the catalogue, which is the header of the console.

import { h, render } from 'preact';
import { PageHeader } from '#std/page/shared/kit/header.ts';
import type { Place } from './running/servers.ts';

/** Views of the console, which `skep dev` serves next to the catalogue. */
const CONSOLE = [
  { label: 'Fleet', href: '/' },
  { label: 'Map', href: '/#/map' },
  { label: 'Runs', href: '/#/runs' },
];

/** Renders the header with an empty place for the controls of the catalogue. */
export function showHeader(host: HTMLElement, title: string, place: Place): void {
  const views = place === 'beside' ? [...CONSOLE, { label: 'Catalogue', href: '#/', isCurrent: true }] : [];
  render(h(PageHeader, { title, home: '#/', views }, h('div', { id: 'controls', class: 'controls' })), host);
}
