// Sets the status of a commit at GitHub, GitLab or Gitea.

import type { Notice, NoticeState } from '#reconciler/run/notify/ports.ts';
import type { Outbound } from '../http/outbound.ts';
import { deliver, type NotificationRequest } from './send.ts';

type GitHost = 'github' | 'gitlab' | 'gitea';

export interface CommitStatusOptions {
  readonly provider: GitHost;
  /** Origin of the Git host, such as `https://github.com`. */
  readonly origin: string;
  /** Path of the repository, without a leading slash and `.git`: `team/fleet`. */
  readonly path: string;
  /** URL of the API. By default, it is derived from the origin. */
  readonly apiUrl?: string;
  /** Returns the token. Called once for each status. */
  readonly token: () => Promise<string>;
  /** Name that distinguishes the status from other statuses of the commit. */
  readonly context: string;
  readonly targetUrl?: string;
}

export async function sendCommitStatus(
  outbound: Outbound,
  options: CommitStatusOptions,
  notice: Notice,
): Promise<void> {
  await deliver(outbound, messageOf(options, notice, await options.token()));
}

function messageOf(
  options: CommitStatusOptions,
  { state, about: sha, description }: Notice,
  token: string,
): NotificationRequest {
  const { provider, origin, path, apiUrl, context, targetUrl } = options;
  const link = targetUrl === undefined ? {} : { target_url: targetUrl };
  const body = JSON.stringify({ state: NAMES[provider][state], context, description, ...link });
  switch (provider) {
    // Source: docs.github.com/rest/commits/statuses, "Create a commit status".
    case 'github': {
      const api = apiUrl ?? (origin === 'https://github.com' ? 'https://api.github.com' : `${origin}/api/v3`);
      const headers = {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'x-github-api-version': '2022-11-28',
      };
      return { url: `${api}/repos/${encodedPath(path)}/statuses/${sha}`, headers, body };
    }
    // Source: docs.gitlab.com/api/commits, "Set commit pipeline status".
    case 'gitlab': {
      const url = `${apiUrl ?? `${origin}/api/v4`}/projects/${encodeURIComponent(path)}/statuses/${sha}`;
      return { url, headers: { 'private-token': token }, body, delivered: isSetAlready };
    }
    // Source: docs.gitea.com/api, repoCreateStatus.
    case 'gitea': {
      const url = `${apiUrl ?? `${origin}/api/v1`}/repos/${encodedPath(path)}/statuses/${sha}`;
      return { url, headers: { authorization: `token ${token}` }, body };
    }
  }
}

const NAMES: Readonly<Record<GitHost, Readonly<Record<NoticeState, string>>>> = {
  github: { pending: 'pending', success: 'success', failure: 'failure' },
  gitlab: { pending: 'running', success: 'success', failure: 'failed' },
  gitea: { pending: 'pending', success: 'success', failure: 'failure' },
};

/**
 * True if GitLab refuses the status because the commit already has it. Only the text distinguishes this from other
 * errors.
 */
function isSetAlready(status: number, body: string): boolean {
  return status === 400 && body.includes('Cannot transition status');
}

function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
