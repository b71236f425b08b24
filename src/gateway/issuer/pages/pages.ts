// Builds the pages that people see during a login. The pages work without scripts.

import type { IssuerAnswer } from '../message.ts';
import { type Html, html } from './html.ts';
import { PAGE_POLICY, STYLE } from './style.ts';

export interface ConsentFacts {
  /** Id of the login, which the form sends back. */
  readonly pending: string;
  /** Path that the form is sent to. */
  readonly action: string;
  /** Name that the client chose. */
  readonly client: string;
  /** Host of the client's document. undefined if the client has no document, so that its name is unverified. */
  readonly host: string | undefined;
  /** Destination after the login, as returned by `redirectPlace`. */
  readonly place: string;
  readonly scopes: readonly string[];
  readonly resource: string;
  readonly providers: readonly { readonly name: string; readonly host: string }[];
}

export function consentPage(facts: ConsentFacts, cookies: readonly string[]): IssuerAnswer {
  const { client, host, place, scopes, resource, providers } = facts;
  const title = `Let “${client}” connect?`;
  return page(
    200,
    title,
    html`<h1>${title}</h1>
<p>It wants to use <strong>${resource}</strong> as you. Afterwards you are sent to <strong>${place}</strong>.</p>
${host === undefined ? UNPROVEN : html`<p class="soft">The app is described at <strong>${host}</strong>. Continue only if you have just connected it yourself.</p>`}
<h2>It may</h2>
<ul>${scopes.map((scope) => html`<li>${SCOPES[scope] ?? `use “${scope}”`}</li>`)}</ul>
<h2>You log in with</h2>
<ul>${providers.map(({ name, host }) => html`<li>${name} <span class="soft">(${host})</span></li>`)}</ul>
<form method="post" action="${facts.action}" class="actions">
<input type="hidden" name="pending" value="${facts.pending}">
<button class="main" name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Do not allow</button>
</form>`,
    { cookies },
  );
}

const UNPROVEN = html`<p class="soft">The app chose this name itself. Continue only if you have just connected it yourself.</p>`;

const SCOPES: Readonly<Record<string, string>> = {
  openid: 'know that it is you',
  profile: 'know your name',
  email: 'know your e-mail address',
  offline_access: 'stay connected while you are away',
};

export function errorPage(status: number, title: string, message: string): IssuerAnswer {
  return page(status, title, html`<h1>${title}</h1><p>${message}</p>`);
}

/** Shows a fault, and a link back to the client that the person may follow. */
export function refusalPage(message: string, url: string): IssuerAnswer {
  const title = 'The app requests something that is not available';
  const body = html`<h1>${title}</h1><p>${message}.</p>
<p class="soft">The makers of the app can correct that. The link back leads to ${new URL(url).host}.</p>
<p class="actions"><a class="button" href="${url}" rel="noreferrer">Back to the app</a></p>`;
  return page(400, title, body);
}

/**
 * Shows a page that continues by itself. A redirect in place of this page would require a `form-action` that lists
 * every provider and app.
 */
export function continuePage(url: string, place: string): IssuerAnswer {
  const title = 'One moment';
  const body = html`<h1>${title}</h1><p>You are sent to ${place}.</p>
<p class="actions"><a class="button main" href="${url}" rel="noreferrer">Continue</a></p>`;
  return page(200, title, body, { refresh: url });
}

export interface ConnectedApp {
  readonly client: string;
  readonly name: string;
  readonly place: string;
  readonly scopes: readonly string[];
}

/** Shows the consents of one person, each with a button that withdraws the consent. */
export function appsPage(action: string, apps: readonly ConnectedApp[]): IssuerAnswer {
  const title = 'Apps that act for you';
  const listed = apps.map(
    ({ client, name, place, scopes }) => html`<h2>${name}</h2>
<p class="soft">${place}: ${scopes.map((scope) => SCOPES[scope] ?? scope).join(', ')}</p>
<form method="post" action="${action}"><input type="hidden" name="client" value="${client}">
<button aria-label="Disconnect ${name}">Disconnect</button></form>`,
  );
  const none = html`<p>There are none. Apps that you allow to connect are listed here, in the browser that you allowed them in.</p>`;
  return page(200, title, html`<h1>${title}</h1>${listed.length === 0 ? none : listed}`);
}

function page(
  status: number,
  title: string,
  body: Html,
  { cookies = [], refresh }: { readonly cookies?: readonly string[]; readonly refresh?: string } = {},
): IssuerAnswer {
  const going = refresh === undefined ? html`` : html`<meta http-equiv="refresh" content="0;url=${refresh}">`;
  const { html: text } = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title>${going}<style>${{ html: STYLE }}</style></head>
<body><main>${body}</main></body></html>
`;
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': PAGE_POLICY,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // With no-referrer, forms would send Origin: null. Pages of all origins can send Origin: null.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }),
    },
    body: text,
  };
}
