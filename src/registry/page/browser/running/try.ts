// Lets a reader try a running server: log in if required, choose a tool, fill in its form, and read the result.

import { button, element } from '#std/page/shared/elements.ts';
import { snippet } from '../connect.ts';
import type { Members } from '../json.ts';
import { answerBlocks } from './answer.ts';
import { type Form, formOf } from './form.ts';
import type { Logins } from './login.ts';
import { type ElicitAnswer, isTokenRefused, type McpSession, type McpTool, openMcp, type Progress } from './mcp.ts';
import type { Running } from './servers.ts';

export interface TryDeps {
  /** Returns the token of `skep dev`. If the token is empty, the reader enters it. */
  readonly token: () => string;
  readonly logins: Logins;
  readonly announce: (text: string) => void;
  /** Aborted when the reader leaves the view. */
  readonly signal: AbortSignal;
}

/** Creates the panel. Lists the tools at once if no token is missing. */
export function tryPanel(server: Running, deps: TryDeps): HTMLElement {
  const body = element('div', { class: 'try' });
  const start = element('div', { class: 'start' });
  const fault = deps.logins.fault(server);
  if (fault !== undefined) body.append(trouble(fault));

  async function load(token: string): Promise<void> {
    start.replaceChildren(element('p', { class: 'hint' }, 'Asking for its tools …'));
    const talk = element('div', { 'aria-live': 'polite' });
    const asked = {
      progress: (progress: Progress) => talk.replaceChildren(progressLine(progress)),
      elicit: (message: string, schema: Members) => question(talk, message, schema),
    };
    try {
      const session = await openMcp(callPath(server), token, asked, deps.signal);
      deps.signal.addEventListener('abort', session.end, { once: true });
      const tools = await session.tools();
      body.replaceChildren(...aboutServer(session), ...chooser(tools, session, talk, deps));
      start.remove();
    } catch (error) {
      if (deps.signal.aborted) return;
      if (isTokenRefused(error)) deps.logins.forget(server);
      body.replaceChildren(trouble(wordsOf(error)));
      await offer();
    }
  }

  async function offer(): Promise<void> {
    const own = tokenForm(server, (token) => void load(token));
    const ready = () => start.replaceChildren(button('List its tools', () => void load(deps.token()), PRIMARY));
    if (server.auth !== 'oidc') {
      if (server.auth === 'token' && deps.token() === '') start.replaceChildren(own);
      else ready();
      return;
    }
    const canLogIn = await deps.logins.offers(server, deps.signal);
    if (canLogIn) start.replaceChildren(loginButton(server, body, deps), folded('With a token of your own', own));
    else start.replaceChildren(own, ...onTerminal(server, deps));
  }

  const token = server.auth === 'oidc' ? deps.logins.token(server) : deps.token();
  if (server.ready && token !== undefined && (token !== '' || server.auth === 'none')) void load(token);
  else void offer();
  return element('div', { class: 'try' }, start, body);
}

const PRIMARY = { class: 'primary' };

function trouble(message: string): HTMLElement {
  return element('p', { class: 'notice trouble text', role: 'alert' }, message);
}

function folded(summary: string, node: HTMLElement): HTMLElement {
  return element('details', {}, element('summary', {}, summary), node);
}

function loginButton(server: Running, body: HTMLElement, { logins, signal }: TryDeps): HTMLElement {
  const login = button('Log in', () => void begin(), PRIMARY);
  async function begin(): Promise<void> {
    login.disabled = true;
    try {
      await logins.begin(server, signal);
    } catch (error) {
      login.disabled = false;
      body.replaceChildren(trouble(wordsOf(error)));
    }
  }
  return login;
}

function tokenForm({ auth }: Running, given: (token: string) => void): HTMLElement {
  const input = element('input', { type: 'password', id: 'own-token', autocomplete: 'off', spellcheck: 'false' });
  const label = auth === 'oidc' ? 'Access token of its issuer' : 'Token of skep dev';
  const list = button('List its tools', () => given(input.value), PRIMARY);
  return element('div', { class: 'start' }, element('label', { for: 'own-token' }, label), input, list);
}

/** Shows a command for a terminal: an issuer of another origin issues tokens only to registered programs. */
function onTerminal({ url }: Running, { announce }: TryDeps): readonly HTMLElement[] {
  const hint = 'This page cannot log in at the issuer of the server. A terminal can:';
  return [element('p', { class: 'hint' }, hint), snippet('Terminal', `skep call ${url}`, announce)];
}

/**
 * Returns the path of the server's streamable HTTP endpoint on this origin. A proxy with HTTP+SSE serves this endpoint
 * too.
 */
function callPath({ url, transport }: Running): string {
  const { pathname } = new URL(url);
  return transport === 'sse' ? `${pathname}/mcp` : pathname;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function progressLine({ done, total, message }: Progress): HTMLElement {
  const figures = total === undefined ? String(done) : `${done} of ${total}`;
  const bar =
    total === undefined
      ? undefined
      : element('progress', { value: String(done), max: String(total), 'aria-label': 'Progress' });
  return element('p', { class: 'text progress' }, bar, ` ${figures} ${message ?? ''}`);
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'io.modelcontextprotocol/ui': 'user interfaces of tools',
  'io.modelcontextprotocol/skills': 'skills',
  'io.modelcontextprotocol/tasks': 'tasks',
};

function aboutServer({ instructions, extensions }: McpSession): readonly HTMLElement[] {
  const words = extensions.map((each) => EXTENSIONS[each] ?? each);
  return [
    ...(instructions === undefined ? [] : [element('p', { class: 'prose text' }, instructions)]),
    ...(words.length === 0 ? [] : [element('p', { class: 'hint text' }, `It offers extensions: ${words.join(', ')}.`)]),
  ];
}

function chooser(
  tools: readonly McpTool[],
  session: McpSession,
  talk: HTMLElement,
  deps: TryDeps,
): readonly HTMLElement[] {
  if (tools.length === 0) return [element('p', {}, 'It shows no tools.')];
  const area = element('div', { class: 'try' });
  const select = element('select', { id: 'tool' }, ...tools.map(({ name }) => element('option', {}, name)));
  let chosen = new AbortController();
  const choose = () => {
    const tool = tools[select.selectedIndex];
    // Cancels a running call of the previous tool, whose cancel button disappears.
    chosen.abort();
    chosen = new AbortController();
    talk.replaceChildren();
    const signal = AbortSignal.any([deps.signal, chosen.signal]);
    if (tool !== undefined) area.replaceChildren(...toolForm(tool, session, talk, { ...deps, signal }));
  };
  select.addEventListener('change', choose);
  choose();
  return [element('div', { class: 'field' }, element('label', { for: 'tool' }, 'Tool'), select), area];
}

function toolForm(tool: McpTool, session: McpSession, talk: HTMLElement, deps: TryDeps): readonly HTMLElement[] {
  const output = element('div', { class: 'try' });
  const submit = element('button', { type: 'submit', class: 'primary' }, 'Call');
  let calling = new AbortController();
  const cancel = button('Cancel', () => calling.abort(), { hidden: true });
  const form = formOf(tool.inputSchema, 'argument', submit, cancel);
  form.submitted(() => void call());

  async function call(): Promise<void> {
    const given = form.read();
    if (given === undefined) return;
    calling = new AbortController();
    [submit.disabled, cancel.hidden] = [true, false];
    output.replaceChildren();
    try {
      const result = await session.call(tool.name, given, AbortSignal.any([deps.signal, calling.signal]));
      output.replaceChildren(...answerBlocks(result, { session, signal: deps.signal }));
      deps.announce(result.isError === true ? 'The tool failed.' : 'The tool has answered.');
    } catch (error) {
      if (deps.signal.aborted) return;
      const isCancelled = calling.signal.aborted;
      output.replaceChildren(
        isCancelled
          ? element('p', { class: 'notice', role: 'status' }, 'The call is cancelled.')
          : trouble(wordsOf(error)),
      );
    } finally {
      [submit.disabled, cancel.hidden] = [false, true];
      talk.replaceChildren();
    }
  }

  const app = element('p', { class: 'hint' }, 'This tool has a user interface, which this page does not show.');
  const prose = element('p', { class: 'prose text' }, tool.description);
  return [prose, ...(tool.hasApp ? [app] : []), form.node, talk, output];
}

/** Shows the server's question as a form in place of the progress. Only one question is shown at a time. */
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
