// Shows problems and empty results instead of the content.

import { button, element } from '#std/page/shared/elements.ts';
import type { Refusal, Trouble } from './api.ts';

/** `again` repeats the request. The button is shown only if a repetition may help. */
export function troubleNotice(trouble: Trouble, what: string, again: () => void): HTMLElement {
  const described = describeTrouble(trouble, what);
  return element(
    'div',
    { class: 'notice trouble', role: 'alert' },
    element('p', { class: 'strong' }, described.title),
    element('p', {}, described.advice),
    described.again ? button('Try again', again) : undefined,
  );
}

export function emptyNotice(title: string, advice: string, ...actions: readonly HTMLElement[]): HTMLElement {
  return element(
    'div',
    { class: 'notice' },
    element('p', { class: 'strong' }, title),
    element('p', {}, advice),
    ...actions,
  );
}

export interface Advice {
  readonly title: string;
  readonly advice: string;
  /** True if a repetition of the request may help. */
  readonly again: boolean;
}

/** `what` is the requested object in a sentence, such as `such server`. */
export function describeTrouble(trouble: Trouble, what: string): Advice {
  switch (trouble.kind) {
    case 'unauthorized':
    case 'forbidden':
    case 'missing':
    case 'invalid':
      return describeRefusal(trouble, what);
    case 'limited':
      return {
        title: 'Too many requests',
        advice: `The registry limits the number of requests. Try again ${inSeconds(trouble.seconds)}.`,
        again: true,
      };
    case 'unavailable':
      return {
        title: 'The registry is not available right now',
        advice: `It is running, but cannot reach its database or the identity provider. Try again ${inSeconds(trouble.seconds)}.`,
        again: true,
      };
    case 'fault':
      return {
        title: 'The registry failed',
        advice: `It responded with status ${trouble.status}. Try again; if the error stays, ask its operator${requestHint(trouble.requestId)}.`,
        again: true,
      };
    case 'unreachable':
      return {
        title: 'The registry cannot be reached',
        advice: 'Check your network connection, or whether the registry is running, and try again.',
        again: true,
      };
    case 'slow':
      return { title: 'The registry does not answer', advice: 'It took too long. Try again in a moment.', again: true };
  }
}

function describeRefusal(trouble: Refusal, what: string): Advice {
  switch (trouble.kind) {
    case 'unauthorized':
      return {
        title: 'The token is not accepted',
        advice: 'It may have expired, or is meant for another service. Paste a new one.',
        again: false,
      };
    case 'forbidden':
      return {
        title: 'The token may not read this registry',
        advice:
          'It lacks the scope mcp-registry:read. Ask your identity provider for a token with it, and paste that one.',
        again: false,
      };
    case 'missing':
      return {
        title: `There is no ${what}`,
        advice: 'It may have been removed or renamed. Go back to the list, and search for it.',
        again: false,
      };
    case 'invalid':
      return {
        title: 'The registry does not accept the request',
        advice: `It says: ${trouble.reason}. Change the search or clear the filters.`,
        again: false,
      };
  }
}

function inSeconds(seconds: number | undefined): string {
  if (seconds === undefined) return 'in a moment';
  return seconds === 1 ? 'in a second' : `in ${seconds} seconds`;
}

function requestHint(id: string | undefined): string {
  return id === undefined ? '' : ` the request id ${id}`;
}
