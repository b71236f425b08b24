// Maps ssh hosts that Git services offer on port 443 (for networks that close port 22) to the services' web hosts.

const WEB_HOSTS: ReadonlyMap<string, string> = new Map([
  ['ssh.github.com', 'github.com'],
  ['altssh.gitlab.com', 'gitlab.com'],
]);

/** Returns the host of the web pages, API and webhooks of a repository, in lower case. */
export function webHost(host: string): string {
  const lower = host.toLowerCase();
  return WEB_HOSTS.get(lower) ?? lower;
}
