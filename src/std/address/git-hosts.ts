// Maps the hosts at which Git hosts serve ssh on port 443, for networks that close port 22, to their web hosts.

const WEB_HOSTS: ReadonlyMap<string, string> = new Map([
  ['ssh.github.com', 'github.com'],
  ['altssh.gitlab.com', 'gitlab.com'],
]);

/** Returns the host of the pages, the API and the webhooks of a repository, in lower case. */
export function webHost(host: string): string {
  const lower = host.toLowerCase();
  return WEB_HOSTS.get(lower) ?? lower;
}
