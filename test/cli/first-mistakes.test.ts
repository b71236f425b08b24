// What people get wrong in their first hour, and what they read then.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '../harness/git-server.ts';
import { skep } from '../harness/skep.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const options = { cwd: folder.path };

function write(name: string, text: string): void {
  mkdirSync(join(folder.path, name, '..'), { recursive: true });
  writeFileSync(join(folder.path, name), text);
}

const SERVER = (name: string, field: string) => `---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: { name: ${name}, namespace: tools }
spec:
  image: example.com/${name}:1.0.0
  groupRef: toolz
  ${field}: stdio
`;

const FLEET = `apiVersion: v1
kind: Namespace
metadata: { name: tools }
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPGroup
metadata: { name: tools, namespace: tools }
${SERVER('wiki', 'transport')}${SERVER('clock', 'transprot')}---
apiVersion: v1
kind: Secret
metadata: { name: password, namespace: tools }
stringData: { token: correct-horse }
---
apiVersion: v1
kind: Secret
metadata: { name: filled-later, namespace: tools }
`;

test('validate shows all there is to correct at once, what names mean, and Secrets that everybody can read', async () => {
  write('fleet.yaml', FLEET);
  const { code, stdout } = await skep(['validate', 'fleet.yaml', '--no-cache'], options);
  expect(code).toBe(3);
  expect(stdout).toMatchInlineSnapshot(`
    "fleet.yaml:14:13: error reference-missing: no MCPGroup "toolz" in namespace tools among these manifests. Did you mean "tools"? (tools/MCPServer/wiki)
    fleet.yaml:22:13: error reference-missing: no MCPGroup "toolz" in namespace tools among these manifests. Did you mean "tools"? (tools/MCPServer/clock)
    fleet.yaml:23:3: error schema-unknown-field: spec has no field "transprot", so the API server would drop it. Did you mean "transport"? (tools/MCPServer/clock)
    fleet.yaml:26:7: warning secret-plaintext: the values of this Secret can be read by all who can read the repository: encrypt it, or create it in the cluster (docs/secrets.md) (tools/Secret/password)
    6 resources in 1 file: 2 invalid, 1 warning; correct these errors first, then rules and policies are checked as well
    "
  `);
});

test('a repository over SSH without a key is answered with the source and the settings', async () => {
  write('skep.yaml', 'sources: [{ name: fleet, repository: git@git.example.com:platform/fleet.git }]\n');
  const cluster = { cluster: { server: 'https://127.0.0.1:1' }, name: 'none' };
  const context = { context: { cluster: 'none', user: 'none' }, name: 'none' };
  write(
    'kubeconfig',
    JSON.stringify({
      clusters: [cluster],
      contexts: [context],
      users: [{ name: 'none', user: {} }],
      'current-context': 'none',
    }),
  );
  const { code, stderr } = await skep(['plan', '--kubeconfig', 'kubeconfig'], options);
  expect(code).toBe(1);
  expect(stderr).toMatchInlineSnapshot(`
    "error git-ssh-key-missing: source fleet: git.example.com:platform/fleet.git: ssh needs a key file and a known_hosts file. Set auth: {sshKeyFile, knownHostsFile} of the source, or git.credentials for its host, in skep.yaml
    "
  `);
});

test('init for a repository of this machine writes settings that may read it', async () => {
  await skep(['init', 'local', '--repository', 'file:///srv/fleet'], options);
  expect(readFileSync(join(folder.path, 'local/skep.yaml'), 'utf8')).toContain('\noutbound: {allowFiles: true}\n');
  await skep(['init', 'remote', '--repository', 'https://git.example.com/fleet.git'], options);
  expect(readFileSync(join(folder.path, 'remote/skep.yaml'), 'utf8')).not.toContain('outbound');
});

test.each([
  { words: ['diff'], says: 'skep has no command diff: skep plan shows the changes of a sync' },
  { words: ['get', 'mcpservers'], says: 'skep has no command get: skep status shows the state of the fleet' },
  { words: ['logs'], says: 'skep has no command logs: kubectl logs has the logs of pods' },
  { words: ['reconcile'], says: 'skep has no command reconcile: skep sync makes one run' },
  { words: ['lint', '.'], says: 'skep has no command lint: skep validate checks manifests' },
  { words: ['vaildate'], says: 'skep has no command vaildate. Did you mean "validate"? (--help lists the commands)' },
  { words: ['plan', '--detail'], says: "unknown option '--detail'" },
  { words: ['approve'], says: "missing required argument 'hash'" },
])('$words is answered like every other mistake', async ({ words, says }) => {
  const { code, stdout, stderr } = await skep(words, options);
  expect([code, stdout]).toEqual([64, '']);
  expect(stderr.startsWith(`error usage: ${says}`), stderr).toBe(true);
});

test('without a skep.yaml, commands are about the skep dev that has its state here, and say so', async () => {
  const own = temporaryFolder();
  try {
    const text =
      '{"name": "dev", "sources": [{"name": "fleet", "repository": "https://git.invalid/fleet.git"}], "shedule": "never"}';
    mkdirSync(join(own.path, '.skep/dev'), { recursive: true });
    writeFileSync(join(own.path, '.skep/dev/skep.yaml'), text);
    const { code, stderr } = await skep(['status'], { cwd: own.path });
    expect(code).toBe(64);
    expect(stderr).toContain(
      'there is no skep.yaml here, so the command uses the settings of skep dev (-c .skep/dev/skep.yaml)\n',
    );
    expect(stderr).toContain('.skep/dev/skep.yaml:1:');
  } finally {
    own.remove();
  }
});
