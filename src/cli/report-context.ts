// Reads settings of reports from the environment variables of a CI system.

import { VERSION } from '#hosts/version.ts';
import type { ReportContext } from '#reconciler/report/context.ts';
import type { CommandOf } from '#std/words/command-of.ts';
import { DOCUMENTATION } from './published.ts';

export function reportContext(commandOf: CommandOf): ReportContext {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_SHA } = process.env;
  const { CI_PROJECT_URL, CI_COMMIT_SHA, CI_JOB_URL } = process.env;
  const github = GITHUB_REPOSITORY === undefined ? undefined : `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;
  const blobs =
    github === undefined
      ? withCommit(CI_PROJECT_URL, '/-/blob/', CI_COMMIT_SHA)
      : withCommit(github, '/blob/', GITHUB_SHA);
  const fullReport = github === undefined ? CI_JOB_URL : withCommit(github, '/actions/runs/', GITHUB_RUN_ID);
  return {
    version: VERSION,
    commandOf,
    meanings: async () => (await import('./error-codes.ts')).meaningOf,
    helpUri: (code) => `${DOCUMENTATION}/errors.md#${code}`,
    root: process.cwd(),
    linkTo:
      blobs === undefined
        ? undefined
        : ({ file, line }) => `${blobs}/${file.split('/').map(encodeURIComponent).join('/')}#L${line}`,
    fullReport,
  };
}

function withCommit(base: string | undefined, path: string, commit: string | undefined): string | undefined {
  return base === undefined || commit === undefined ? undefined : `${base}${path}${commit}`;
}
