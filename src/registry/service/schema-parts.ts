// Defines OpenAPI schemas that several routes share.

import { Type } from '#std/json-schema.ts';

export const Time = (description: string) => Type.String({ format: 'date-time', description });

export const REGISTRY = Type.String({ description: 'Name of the registry.' });
const ERROR = Type.Object(
  { error: Type.String({ description: 'Description of the error, for people.' }) },
  { title: 'Error' },
);

/** Describes the error responses of a route: the given statuses, and a default for other statuses. */
export function describeErrors(...statuses: readonly number[]): Record<string, object> {
  const known = statuses.map((status) => [status, { description: MEANING[status], ...ERROR }]);
  return { ...Object.fromEntries(known), default: { description: 'Any other failure.', ...ERROR } };
}

const MEANING: Readonly<Record<number, string>> = {
  400: 'A parameter is not valid.',
  401: 'The token is missing or not valid; WWW-Authenticate names the source of tokens.',
  403: 'The token lacks the scope that WWW-Authenticate names.',
  404: 'There is no such registry, server or version.',
  409: 'The registry has no source to sync.',
  429: 'Too many requests; Retry-After says when to try again.',
  503: 'The database or the identity provider cannot be reached; Retry-After says when to try again.',
};
