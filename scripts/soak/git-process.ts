// The Git server and its one repository in a process of their own: git is waited for without anybody else noticing. Makes a
// commit for each message and answers with its id.

import { type GitServer, startGitServer, type TestRepository } from '../../test/harness/git-server.ts';
import type { Step } from './story.ts';

export const REPOSITORY = 'fleet.git';

function commit(server: GitServer, repository: TestRepository, { what, files, rewind }: Step): string {
  if (rewind > 0) repository.git('reset', '--quiet', '--hard', `HEAD~${rewind}`);
  const changes = Object.entries(files).filter(([path, text]) => text !== null || has(repository, path));
  server.forget();
  return repository.commit(Object.fromEntries(changes.map(([path, text]) => [path, text ?? undefined])), what);
}

function has(repository: TestRepository, path: string): boolean {
  return repository.git('ls-files', '--', path) !== '';
}

process.once('message', async () => {
  const server = await startGitServer();
  const repository = server.createRepository(REPOSITORY);
  process.on('message', (step: Step) => process.send?.(commit(server, repository, step)));
  process.once('disconnect', () => {
    void server.close();
  });
  process.send?.(server.url);
});
