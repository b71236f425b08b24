// Calls a tool of a server that runs here: choose the tool, fill in its form, read the answer.

import { button, element } from '#std/page/shared/elements.ts';
import { items, type Members, members, text } from '../json.ts';
import { type Form, formOf } from './form.ts';
import { type ElicitAnswer, type McpSession, type McpTool, openMcp } from './mcp.ts';
import type { Running } from './servers.ts';

export interface TryDeps {
  readonly token: () => string;
  readonly announce: (text: string) => void;
  /** Aborts when the reader leaves the view. */
  readonly signal: AbortSignal;
}

/** Each tool of `server`, once its reader asks for them. */
export function trySection(server: Running, deps: TryDeps): HTMLElement {
  const body = element('div', {});
  const own = element('input', { type: 'password', id: 'own-token', autocomplete: 'off', spellcheck: 'false' });
  const begin = button('List its tools', () => void load(), { class: 'primary' });
  const asksForToken = server.auth === 'oidc' || deps.token() === '';
  const label = server.auth === 'oidc' ? 'Access token of its issuer' : 'Token of skep dev';
  const start = element(
    'div',
    { class: 'start' },
    asksForToken ? element('label', { for: 'own-token' }, label) : undefined,
    asksForToken ? own : undefined,
    begin,
  );

  async function load(): Promise<void> {
    begin.disabled = true;
    const talk = element('div', { 'aria-live': 'polite' });
    const asked = {
      progress: (line: string) => talk.replaceChildren(element('p', { class: 'text progress' }, line)),
      elicit: (message: string, schema: Members) => question(talk, message, schema),
    };
    try {
      const token = asksForToken ? own.value : deps.token();
      const session = await openMcp(callPath(server), token, asked, deps.signal);
      deps.signal.addEventListener('abort', session.end, { once: true });
      const tools = await session.tools();
      body.replaceChildren(...extensionsLine(session.extensions), ...chooser(tools, session, talk, deps));
      start.remove();
      body.querySelector('select')?.focus();
    } catch (error) {
      begin.disabled = false;
      body.replaceChildren(element('p', { class: 'notice trouble text', role: 'alert' }, wordsOf(error)));
    }
  }

  return element('section', { class: 'try' }, element('h2', {}, 'Try it'), start, body);
}

/** Streamable HTTP of this origin; what a proxy shows over SSE it shows there as well. */
function callPath({ url, transport }: Running): string {
  const { pathname } = new URL(url);
  return transport === 'sse' ? `${pathname}/mcp` : pathname;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'io.modelcontextprotocol/ui': 'user interfaces of tools',
  'io.modelcontextprotocol/skills': 'skills',
  'io.modelcontextprotocol/tasks': 'tasks',
};

function extensionsLine(extensions: readonly string[]): readonly HTMLElement[] {
  const words = extensions.map((each) => EXTENSIONS[each] ?? each);
  return words.length === 0 ? [] : [element('p', { class: 'hint text' }, `It offers extensions: ${words.join(', ')}.`)];
}

function chooser(
  tools: readonly McpTool[],
  session: McpSession,
  talk: HTMLElement,
  deps: TryDeps,
): readonly HTMLElement[] {
  if (tools.length === 0) return [element('p', {}, 'It shows no tools.')];
  const area = element('div', {});
  const select = element('select', { id: 'tool' }, ...tools.map(({ name }) => element('option', {}, name)));
  const choose = () => {
    const tool = tools[select.selectedIndex];
    talk.replaceChildren();
    if (tool !== undefined) area.replaceChildren(...toolForm(tool, session, talk, deps));
  };
  select.addEventListener('change', choose);
  choose();
  return [element('div', { class: 'field' }, element('label', { for: 'tool' }, 'Tool'), select), area];
}

function toolForm(tool: McpTool, session: McpSession, talk: HTMLElement, deps: TryDeps): readonly HTMLElement[] {
  const output = element('div', {});
  const submit = element('button', { type: 'submit', class: 'primary' }, 'Call');
  const form = formOf(tool.inputSchema, 'argument', submit);
  form.submitted(() => void call());

  async function call(): Promise<void> {
    const given = form.read();
    if (given === undefined) return;
    submit.disabled = true;
    output.replaceChildren();
    try {
      const result = await session.call(tool.name, given, deps.signal);
      output.replaceChildren(...resultBlocks(result));
      deps.announce(result.isError === true ? 'The tool failed.' : 'The tool has answered.');
    } catch (error) {
      if (deps.signal.aborted) return;
      output.replaceChildren(element('p', { class: 'notice trouble text', role: 'alert' }, wordsOf(error)));
    } finally {
      submit.disabled = false;
      talk.replaceChildren();
    }
  }

  const app = element('p', { class: 'hint' }, 'This tool has a user interface, which this page does not show.');
  const prose = element('p', { class: 'prose text' }, tool.description);
  return [prose, ...(tool.hasApp ? [app] : []), form.node, talk, output];
}

function resultBlocks({ content, structuredContent, isError }: Members): readonly HTMLElement[] {
  const texts = items(content).map(members).map(blockText);
  const pre = element(
    'pre',
    { tabindex: '0', role: 'region', 'aria-label': 'Answer' },
    element('code', {}, texts.join('\n')),
  );
  const data = JSON.stringify(structuredContent, undefined, 2);
  return [
    ...(isError === true ? [element('p', { class: 'notice warn' }, 'The tool says that it failed.')] : []),
    pre,
    ...(data === undefined
      ? []
      : [element('details', {}, element('summary', {}, 'As data'), element('pre', { tabindex: '0' }, data))]),
  ];
}

function blockText(block: Members): string {
  const { type, uri, name } = block;
  if (type === 'text') return text(block.text) ?? '';
  if (type === 'resource')
    return text(members(block.resource).text) ?? `[resource ${String(members(block.resource).uri)}]`;
  return type === 'resource_link' ? `${String(name)} ${String(uri)}` : `[${String(type)}]`;
}

/** A form in the place where progress is shown; there is one question at a time. */
function question(talk: HTMLElement, message: string, schema: Members): Promise<ElicitAnswer> {
  return new Promise((resolve) => {
    const answer = (given: ElicitAnswer) => {
      talk.replaceChildren();
      resolve(given);
    };
    const accept = element('button', { type: 'submit', class: 'primary' }, 'Answer');
    const decline = button('Decline', () => answer({ action: 'decline' }));
    const form: Form = formOf(schema, 'answer', accept, decline);
    form.submitted(() => {
      const content = form.read();
      if (content !== undefined) answer({ action: 'accept', content });
    });
    const asked = element(
      'div',
      { class: 'notice' },
      element('p', { class: 'strong text' }, `The server asks: ${message}`),
    );
    asked.append(form.node);
    talk.replaceChildren(asked);
    accept.focus();
  });
}
