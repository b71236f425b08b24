// Finds the member for a client's request, and the name or URI that the member uses for the target.

import { isObject } from '#std/json.ts';
import { ERRORS, errorBody } from '../../wire/errors.ts';
import type { RequestMessage } from '../../wire/message.ts';
import type { Era } from '../../wire/revisions.ts';
import { readValue } from '../../wire/scan.ts';
import type { Offer } from '../catalogue/assemble.ts';
import { readTaskOfMember } from './name-tasks.ts';

export type RequestRoute =
  | {
      readonly member: string;
      readonly own: string | undefined;
      /** True if a client with a session may request a task for the call. */
      readonly makesTasks?: boolean;
      readonly error?: undefined;
    }
  /** Error response for the client. */
  | { readonly error: Buffer };

const SHOWN_MAX = 200;

export function routeRequest(offer: Offer, body: Buffer, request: RequestMessage, era: Era): RequestRoute {
  const { method, target, id } = request;
  const name = target?.value ?? '';
  const shown = name.slice(0, SHOWN_MAX);
  const invalid = (text: string): RequestRoute => ({ error: errorBody(id, ERRORS.invalidParams, text) });
  if (TASK_METHODS[era].has(method)) return taskRoute(request);
  switch (method) {
    case 'tools/call': {
      const tool = offer.tools.get(name);
      // Only workflows can call hidden tools.
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

const TASK_METHODS: Readonly<Record<Era, ReadonlySet<string>>> = {
  session: new Set(['tasks/get', 'tasks/result', 'tasks/cancel']),
  stateless: new Set(['tasks/get', 'tasks/update', 'tasks/cancel']),
};

function taskRoute({ target, id }: RequestMessage): RequestRoute {
  const route = readTaskOfMember(target?.value ?? '');
  return route ?? { error: errorBody(id, ERRORS.invalidParams, 'Task not found') };
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
