// Reads the event of a webhook: a push with its repository and ref, a ping, or something else. GitHub, GitLab, Gitea
// and Forgejo differ in the names of a few members.

import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type Json, type JsonObject } from '#std/json.ts';

export interface Push {
  readonly type: 'push';
  /** `refs/heads/main`, `refs/tags/v1.0.0`. */
  readonly ref: string;
  /** Every URL of the repository that the webhook contains. */
  readonly urls: readonly string[];
  readonly defaultBranch?: string;
}

export type HookEvent = Push | { readonly type: 'ping' } | { readonly type: 'other'; readonly name: string };

const EVENT_HEADERS = ['x-forgejo-event', 'x-gitea-event', 'x-github-event', 'x-gitlab-event'];
const PUSHES: readonly string[] = ['push', 'push hook', 'tag push hook', 'system hook'];
const URL_NAMES = [
  'clone_url',
  'ssh_url',
  'html_url',
  'git_url',
  'git_http_url',
  'git_ssh_url',
  'http_url',
  'web_url',
  'url',
  'homepage',
];

/** Returns undefined if the body is invalid. */
export function readEvent(headers: IncomingHttpHeaders, body: Buffer): HookEvent | undefined {
  const name = EVENT_HEADERS.map((each) => headers[each]).find((each) => typeof each === 'string');
  const event = String(name ?? '').toLowerCase();
  if (event === 'ping') return { type: 'ping' };
  const payload = payloadOf(headers, body);
  if (payload === undefined) return undefined;
  const { ref } = payload;
  if (!PUSHES.includes(event) || typeof ref !== 'string') return { type: 'other', name: event };
  const repositories = [payload.repository, payload.project].filter(isObject);
  const urls = repositories.flatMap((each) =>
    URL_NAMES.map((url) => each[url]).filter((url) => typeof url === 'string'),
  );
  const [defaultBranch] = repositories
    .map((each) => each.default_branch)
    .filter((each): each is string => typeof each === 'string');
  return { type: 'push', ref, urls, defaultBranch };
}

/** Returns the JSON. GitHub and Gitea can also be set to send a form with the JSON in it. */
function payloadOf(headers: IncomingHttpHeaders, body: Buffer): JsonObject | undefined {
  const text = body.toString('utf8');
  const isForm = String(headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
  const json = isForm ? new URLSearchParams(text).get('payload') : text;
  try {
    const value: Json = JSON.parse(json ?? '');
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
