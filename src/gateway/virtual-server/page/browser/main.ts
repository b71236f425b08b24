// Loads and shows the state of a virtual server.

import { byId, element } from '#std/page/shared/elements.ts';
import { askVirtualServer, type VirtualServerView } from './api.ts';
import { backendsView } from './backends.ts';
import { conflictsView } from './conflicts.ts';
import { workflowsView } from './graph.ts';
import { runsView } from './runs.ts';

const main = byId('main');
const announcer = byId('announcer');

async function load(): Promise<void> {
  announcer.textContent = 'loading';
  try {
    show(await askVirtualServer());
  } catch {
    announcer.textContent = '';
    const text = 'The server cannot be shown: its answer is invalid.';
    main.replaceChildren(element('p', { class: 'notice', role: 'alert' }, text));
  }
  byId('controls').replaceChildren(againButton());
}

function show(server: VirtualServerView): void {
  const { status, backends } = server;
  const healthy = backends.filter((backend) => backend.status === 'healthy').length;
  const title = element('h1', { tabindex: '-1', class: 'text' }, status.name);
  const metadata = Object.entries(status.metadata ?? {}).map(([key, value]) => `${key}: ${value}`);
  const summary = `${healthy} of ${backends.length} backends healthy`;
  const parts = [
    title,
    element('p', {}, summary, `, version ${status.version}`),
    metadata.length === 0 ? undefined : element('p', { class: 'soft text' }, metadata.join(', ')),
    backendsView(server),
    conflictsView(status),
    workflowsView(status.workflows),
    status.workflows.length === 0 && status.runs.length === 0 ? undefined : runsView(status.runs),
  ];
  main.replaceChildren(...parts.filter((part) => part !== undefined));
  document.title = status.name;
  title.focus();
  announcer.textContent = summary;
}

function againButton(): HTMLElement {
  const button = element('button', { type: 'button' }, 'Look again');
  button.addEventListener('click', () => void load());
  return button;
}

void load();
