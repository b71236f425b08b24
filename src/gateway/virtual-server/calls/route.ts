// Which member a request of a client is for, and what the member calls what it names. Pure.

import { isObject } from '#std/json.ts';
import { ERRORS, errorBody } from '../../wire/errors.ts';
import type { RequestMessage } from '../../wire/message.ts';
import type { Era } from '../../wire/revisions.ts';
import { readValue } from '../../wire/scan.ts';
import type { Offer } from '../catalogue/assemble.ts';

export type RequestRoute =
  | { readonly member: string; readonly own: string | undefined; readonly error?: undefined }
  /** An error response. */
  | { readonly error: Buffer };

const SHOWN_MAX = 200;

export function routeRequest(offer: Offer, body: Buffer, request: RequestMessage, era: Era): RequestRoute {
  const { method, target, id } = request;
  const name = target?.value ?? '';
  const shown = name.slice(0, SHOWN_MAX);
  const invalid = (text: string): RequestRoute => ({ error: errorBody(id, ERRORS.invalidParams, text) });
  if (era === 'stateless' && TASK_METHODS.has(method)) return taskRoute(request);
  switch (method) {
    case 'tools/call': {
      const tool = offer.tools.get(name);
      // What clients do not see is for workflows alone.
      return tool?.advertised === true ? tool : invalid(`Unknown tool: ${shown}`);
    }
    case 'prompts/get':
      return offer.prompts.get(name) ?? invalid(`Unknown prompt: ${shown}`);
    case 'skills/get':
    case 'resources/directory/read':
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return resourceRoute(offer, request, name, era);
    case 'completion/complete':
      if (refersToPrompt(body, request)) return offer.prompts.get(name) ?? invalid(`Unknown prompt: ${shown}`);
      return resourceRoute(offer, request, name, era);
    default:
      return { error: errorBody(id, ERRORS.methodNotFound, `Method not found: ${method.slice(0, SHOWN_MAX)}`) };
  }
}

const TASK_METHODS: ReadonlySet<string> = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);

/** Names of members have no spaces. */
export function taskOfMember(member: string, id: string): string {
  return `${member} ${id}`;
}

function taskRoute({ target, id }: RequestMessage): RequestRoute {
  const [, member, own] = /^([^ ]+) (.*)$/s.exec(target?.value ?? '') ?? [];
  if (member !== undefined && own !== undefined) return { member, own };
  return { error: errorBody(id, ERRORS.invalidParams, 'Task not found') };
}

function resourceRoute(offer: Offer, { id }: RequestMessage, uri: string, era: Era): RequestRoute {
  const route = offer.findResource(uri);
  if (route !== undefined) return route;
  const code = era === 'session' ? ERRORS.resourceNotFound : ERRORS.invalidParams;
  return {
    error: errorBody(id, code, `Resource not found: ${uri.slice(0, SHOWN_MAX)}`, { uri: uri.slice(0, SHOWN_MAX) }),
  };
}

function refersToPrompt(body: Buffer, { params }: RequestMessage): boolean {
  const value = params === undefined ? undefined : readValue(body, params);
  return isObject(value) && isObject(value.ref) && value.ref.type === 'ref/prompt';
}
