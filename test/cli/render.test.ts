// `skep plan --render`: two commits of a repository without skep.yaml, compared without a cluster.

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRepository, type TestRepository, temporaryFolder } from '../harness/git-server.ts';
import { hasKustomize } from '../harness/kustomize.ts';
import { expectOutput } from '../harness/outputs.ts';
import { type Finished, skep } from '../harness/skep.ts';

let folder: ReturnType<typeof temporaryFolder>;
let fleet: TestRepository;

beforeEach(() => {
  folder = temporaryFolder();
  fleet = createRepository(join(folder.path, 'fleet'));
});

afterEach(() => folder.remove());

function render(...args: readonly string[]): Promise<Finished> {
  return skep(['plan', '--render', ...args], { cwd: fleet.dir });
}

/** Of the last commit with the one before, in the folder `apps`. */
function renderApps(...args: readonly string[]): Promise<Finished> {
  return render('--path', 'apps', '--base', 'base', ...args);
}

function commitBase(files: Readonly<Record<string, string>>): void {
  fleet.commit(files);
  fleet.git('tag', '--force', 'base');
}

function server(name: string, image: string, more = ''): string {
  return `apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPServer
metadata: {name: ${name}, namespace: tools}
spec: {image: "${image}", transport: streamable-http${more}}
`;
}

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: tools}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1"}]}
`;

function secret(password: string): string {
  return `apiVersion: v1
kind: Secret
metadata: {name: db, namespace: tools}
stringData: {password: ${password}}
`;
}

test('what two commits make different, with what clients notice', async () => {
  commitBase({
    'apps/web.yaml': WEB,
    'apps/clock.yaml': server('clock', 'example.com/clock:1'),
    'apps/owl.yaml': server('owl', 'example.com/owl:1'),
    'apps/db.yaml': secret('before'),
    'other/broken.yaml': 'nonsense',
  });
  fleet.commit({
    'apps/web.yaml': WEB.replace('web:1', 'web:2'),
    'apps/owl.yaml': undefined,
    'apps/clock.yaml': undefined,
    'apps/moved/clock.yaml': server('clock', 'example.com/clock:1'),
    'apps/db.yaml': secret('after'),
    'apps/wiki.yaml': server('wiki', 'example.com/wiki:1'),
  });
  const { code, stdout, stderr } = await renderApps('--detailed-exitcode');
  expect([code, stderr]).toEqual([2, '']);
  expect(stdout.replaceAll(/\(?[0-9a-f]{12}\)?/g, '(ID)')).toBe(`apply Secret:
  ~ tools/Secret/db
      /data/password: "*** (before)" -> "*** (after)"
apply Deployment:
  ~ tools/Deployment/web
      /spec/template/spec/containers/[name=web]/image: "example.com/web:1" -> "example.com/web:2"
apply MCPServer:
  + tools/MCPServer/wiki
delete MCPServer:
  - tools/MCPServer/owl
apps/db.yaml:2:7: warning secret-plaintext: the values of this Secret can be read by all who can read the repository: encrypt it, or create it in the cluster (docs/secrets.md) (tools/Secret/db)
what clients notice:
  - tools/MCPServer/owl
      is no longer at http://mcp-owl-proxy.tools.svc.cluster.local:8080/mcp
  + tools/MCPServer/wiki
      is reached at http://mcp-wiki-proxy.tools.svc.cluster.local:8080/mcp
pods are replaced: tools/Deployment/web
compared: apps of HEAD (ID) with base (ID)
not known here: other objects in the cluster, and objects that controllers and operators create: only manifests were compared
1 to create, 2 to update, 1 to delete, 1 unchanged, 0 held
`);
  expect(await renderApps()).toMatchObject({ code: 0 });
});

test('JSON is as its schema says, SARIF has the problems, and Markdown is one comment', async () => {
  commitBase({ 'apps/clock.yaml': server('clock', 'example.com/clock:1') });
  const head = fleet.commit({ 'apps/clock.yaml': server('clock', 'example.com/clock:2', ', imge: x') });
  const json = await renderApps('-o', 'json');
  expect(json.code).toBe(3);
  expectOutput('plan', json.stdout);
  expect(JSON.parse(json.stdout)).toMatchObject({ commit: head, rendered: { paths: ['apps'], earlierProblems: 0 } });
  const sarif = JSON.parse((await renderApps('-o', 'sarif')).stdout);
  expect(sarif.runs[0].results).toMatchObject([
    {
      ruleId: 'schema-unknown-field',
      locations: [{ physicalLocation: { artifactLocation: { uri: 'apps/clock.yaml' } } }],
    },
  ]);
  expect(sarif.runs[0].automationDetails.id).toBe('skep plan/');
  const { stdout } = await renderApps('-o', 'markdown');
  expect(stdout).toMatch(
    /^<!-- skep plan apps -->\n### ❌ skep plan: 0 to create, 0 to update, 0 to delete, 1 error\n\nCompared: apps of HEAD/,
  );
  expect(stdout).toContain('- `tools/MCPServer/clock`: its manifest is invalid');
  fleet.commit({ 'apps/a --> b--c/clock.yaml': server('owl', 'x:1') });
  const two = await renderApps('--path', './apps/a --> b--c', '--path', '.', '-o', 'markdown');
  expect(two.stdout.split('\n')[0]).toBe('<!-- skep plan . apps apps/a%20-%2D%3E%20b-%2Dc -->');
});

test('what the other branch did since is not undone', async () => {
  fleet.commit({ 'apps/clock.yaml': server('clock', 'example.com/clock:1') });
  fleet.git('checkout', '--quiet', '-b', 'topic');
  fleet.commit({ 'apps/owl.yaml': server('owl', 'example.com/owl:1') });
  fleet.git('checkout', '--quiet', 'main');
  fleet.commit({ 'apps/wiki.yaml': server('wiki', 'example.com/wiki:1') });
  fleet.git('checkout', '--quiet', 'topic');
  const { stdout } = await render('--path', 'apps', '--base', 'main');
  expect(stdout).toContain('\n1 to create, 0 to update, 0 to delete, 1 unchanged, 0 held\n');
});

test('nothing is deleted by a commit in which something cannot be read', async () => {
  commitBase({ 'apps/clock.yaml': server('clock', 'x:1'), 'apps/owl.yaml': server('owl', 'x:1') });
  fleet.commit({ 'apps/clock.yaml': undefined, 'apps/owl.yaml': 'kind: [' });
  const { code, stdout } = await renderApps();
  expect(code).toBe(3);
  expect(stdout).toContain('kept unchanged (a manifest could not be read, and may declare it): ');
  expect(stdout).toContain('\n0 to create, 0 to update, 0 to delete, 0 unchanged, 2 held\n');
});

test('a problem that the base has as well is counted, unless its object changes', async () => {
  const broken = server('clock', 'x:1', ', imge: x');
  commitBase({ 'apps/clock.yaml': broken, 'apps/owl.yaml': server('owl', 'x:1') });
  fleet.commit({ 'apps/owl.yaml': server('owl', 'x:2') });
  const { code, stdout } = await renderApps();
  expect(code).toBe(0);
  expect(stdout).toContain(
    '1 problem of an unchanged object is not listed, as the base has the same; to see all problems: ',
  );
  fleet.commit({ 'apps/clock.yaml': broken.replace('x:1', 'x:2') });
  const changed = await renderApps();
  expect(changed.code).toBe(3);
  expect(changed.stdout).toContain('apps/clock.yaml:4:50: error schema-unknown-field');
});

test('expressions are compared as texts, in names and numbers too, and nothing is deleted for them', async () => {
  const files = {
    'apps/clock.yaml': `apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPServer
metadata: {name: "clock-\${CLUSTER}", namespace: "\${NS:=tools}"}
spec: {image: "x:\${TAG}", transport: streamable-http, proxyPort: "\${PORT}", groupRef: {name: "\${GROUP}"}}
`,
    'apps/web.yaml': WEB.replace('replicas: 1', 'replicas: ${REPLICAS:=2}').replace(
      'app: web}}\n  ',
      '"${KEY}": web}}\n  ',
    ),
    'apps/run.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: run, namespace: tools}
data: {run: 'echo \${HOME} \${#list[@]} \${x^^}'}
`,
  };
  commitBase(files);
  fleet.commit({
    'apps/web.yaml': files['apps/web.yaml'].replace('REPLICAS:=2', 'REPLICAS:=3'),
    'apps/clock.yaml': files['apps/clock.yaml'].replace('TAG', 'VERSION'),
  });
  const { code, stdout } = await renderApps();
  expect(stdout).toContain('      /spec/replicas: "${REPLICAS:=2}" -> "${REPLICAS:=3}"\n');
  expect(stdout).toContain(
    '  ~ ${NS:=tools}/MCPServer/clock-${CLUSTER}\n      /spec/image: "x:${TAG}" -> "x:${VERSION}"\n',
  );
  expect(stdout).toContain(
    'the values of variables: 3 objects have expressions such as ${NAME}, which are compared as texts',
  );
  expect(stdout).toContain(
    'the effect on clients of ${NS:=tools}/MCPServer/clock-${CLUSTER}: a value in the manifest is a variable',
  );
  expect(stdout).not.toContain('what clients notice:');
  expect(stdout).not.toContain('error');
  expect(stdout).toContain('\n0 to create, 2 to update, 0 to delete, 1 unchanged, 0 held\n');
  expect(code).toBe(0);
});

test('a value that becomes a variable takes no endpoint away', async () => {
  commitBase({ 'apps/clock.yaml': server('clock', 'x:1', ', proxyPort: 9000') });
  fleet.commit({ 'apps/clock.yaml': server('clock', 'x:1', ', proxyPort: "${PORT}"') });
  const { stdout } = await renderApps();
  expect(stdout).toContain('/spec/proxyPort: 9000 -> "${PORT}"');
  expect(stdout).not.toContain('what clients notice:');
});

test('a reference whose name is a variable may lead somewhere', async () => {
  commitBase({ 'apps/clock.yaml': server('clock', 'x:1') });
  fleet.commit({ 'apps/owl.yaml': server('owl', 'x:1', ', groupRef: {name: "${GROUP}"}') });
  const { code, stdout } = await renderApps();
  expect(stdout).not.toContain('reference-missing');
  expect(code).toBe(0);
  fleet.commit({ 'apps/owl.yaml': server('owl', 'x:1', ', groupRef: {name: absent}') });
  expect((await renderApps()).stdout).toContain('error reference-missing: no MCPGroup "absent" in namespace tools');
});

test.each(['apps', 'apps/prod'])('nothing is deleted if %s is a link in the head, or below one', async (path) => {
  const clock = server('clock', 'x:1');
  commitBase({ [`${path}/clock.yaml`]: clock });
  fleet.commit({ [`${path}/clock.yaml`]: undefined, 'moved/prod/clock.yaml': clock, 'moved/clock.yaml': clock });
  rmSync(join(fleet.dir, 'apps'), { recursive: true, force: true });
  symlinkSync('moved', join(fleet.dir, 'apps'));
  fleet.git('add', '.');
  fleet.git('commit', '--quiet', '-m', 'link');
  const { stdout } = await render('--path', path, '--base', 'base');
  expect(stdout).toContain('apps:1:1: warning link-not-followed: This is a symlink');
  expect(stdout).toContain('\n0 to create, 0 to update, 0 to delete, 0 unchanged, 1 held\n');
  expect(stdout).not.toContain('Flux and Argo CD may refuse a missing path');
  const back = await render('--path', path, '--base', 'HEAD', '--head', 'base');
  expect(back.code).toBe(0);
});

test('a folder that one of the commits lacks is created or deleted as a whole', async () => {
  commitBase({ README: '' });
  fleet.commit({ 'apps/clock.yaml': server('clock', 'x:1') });
  expect((await renderApps()).stdout).toContain('1 to create, 0 to update, 0 to delete');
  const back = await render('--path', 'apps', '--base', 'main', '--head', 'main');
  expect(back.stdout).toContain('0 to create, 0 to update, 0 to delete, 1 unchanged');
  fleet.git('tag', 'full');
  fleet.commit({ 'apps/clock.yaml': undefined });
  const { stdout } = await render('--path', 'apps', '--base', 'full');
  expect(stdout).toContain('0 to create, 0 to update, 1 to delete');
  expect(stdout).toContain(
    'not known here: whether the objects of apps are deleted: the head does not have this folder, and Flux and Argo CD may refuse a missing path',
  );
});

test('folders that Flux and Argo CD apply, and that were not compared, are named', async () => {
  const flux = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: tools, namespace: flux-system}
spec: {path: ./tools/prod, sourceRef: {kind: GitRepository, name: flux-system}}
`;
  const argo = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec: {source: {repoURL: "https://example.com/x.git", path: web}}
`;
  commitBase({ 'apps/flux.yaml': flux, 'apps/argo.yaml': argo, 'tools/prod/x.txt': '', 'web/x.txt': '' });
  const { stdout } = await renderApps('--path', 'web');
  expect(stdout).toContain(
    'not known here: the objects that flux-system/Kustomization/tools applies from tools/prod, which was not compared: add --path tools/prod\n',
  );
  expect(stdout).not.toContain('argocd/Application/web applies');
});

test('kinds without a schema are compared field by field', async () => {
  const widget = (size: number) =>
    `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: tools}, spec: {size: ${size}, list: [1, 2]}}\n`;
  commitBase({ 'apps/w.yaml': widget(1) });
  fleet.commit({ 'apps/w.yaml': widget(2) });
  expect((await renderApps()).stdout).toContain('  ~ tools/Widget/w\n      /spec/size: 1 -> 2\n');
});

test('a definition that one commit adds or removes leaves its objects where they are', async () => {
  const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`;
  const widget = '{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: 1}}\n';
  commitBase({ 'apps/w.yaml': widget });
  fleet.commit({ 'apps/definition.yaml': definition });
  fleet.git('tag', 'defined');
  expect((await renderApps()).stdout).toContain('\n1 to create, 0 to update, 0 to delete, 1 unchanged, 0 held\n');
  fleet.commit({ 'apps/definition.yaml': undefined });
  const removed = await render('--path', 'apps', '--base', 'defined');
  expect(removed.stdout).toContain('\n0 to create, 0 to update, 1 to delete, 1 unchanged, 0 held\n');
});

test.skipIf(!hasKustomize)('kustomizations are built at both commits, with bases outside of the folder', async () => {
  commitBase({
    'base/web.yaml': WEB.replace(', namespace: tools', ''),
    'base/kustomization.yaml': 'resources: [web.yaml]\n',
    'apps/kustomization.yaml':
      'resources: [../base]\nnamespace: prod\nimages: [{name: example.com/web, newTag: "1"}]\n',
  });
  fleet.commit({
    'apps/kustomization.yaml':
      'resources: [../base]\nnamespace: prod\nimages: [{name: example.com/web, newTag: "7"}]\n',
  });
  const { code, stdout } = await renderApps();
  expect(stdout).toContain('/image: "example.com/web:1" -> "example.com/web:7"\n');
  expect(stdout).toContain('pods are replaced: prod/Deployment/web\n');
  expect(code).toBe(0);
});

test('kustomizations that cannot be built are no deletions', async () => {
  commitBase({ 'apps/kustomization.yaml': 'resources: [web.yaml]\n', 'apps/web.yaml': WEB });
  fleet.commit({ 'apps/web.yaml': `${WEB}# more\n` });
  const args = ['plan', '--render', '--path', 'apps', '--base', 'base'];
  const { code, stdout } = await skep(args, { cwd: fleet.dir, env: { PATH: join(folder.path, 'nothing') } });
  expect(code).toBe(3);
  expect(stdout).toContain('error kustomize-missing');
  expect(stdout).toContain('0 to create, 0 to update, 0 to delete, 0 unchanged, 0 held');
});

test('it runs in a folder of the repository, and --path is relative to that', async () => {
  commitBase({ 'team/apps/clock.yaml': server('clock', 'x:1') });
  fleet.commit({ 'team/apps/clock.yaml': server('clock', 'x:2') });
  const args = ['plan', '--render', '--path', 'apps', '--base', 'base'];
  const { stdout } = await skep(args, { cwd: join(fleet.dir, 'team') });
  expect(stdout).toContain('compared: team/apps of HEAD');
  expect(stdout).toContain('0 to create, 1 to update');
});

test('mistakes in the call are explained', async () => {
  commitBase({ 'apps/clock.yaml': server('clock', 'x:1') });
  mkdirSync(join(folder.path, 'elsewhere'));
  const outside = await skep(['plan', '--render', '--path', 'apps', '--base', 'main'], {
    cwd: join(folder.path, 'elsewhere'),
  });
  const calls = [
    outside,
    await render('--base', 'main'),
    await render('--path', 'apps'),
    await render('--path', 'absent', '--base', 'main'),
    await render('--path', '../elsewhere', '--base', 'main'),
    await render('--path', 'apps', '--base', 'main', '-c', 'skep.yaml'),
    await render('--path', 'apps', '--base', 'main', '--out', 'x.plan'),
    await render('--path', 'apps', '--base', 'main', '--source', 'fleet=.'),
    await skep(['plan', '--path', 'apps'], { cwd: fleet.dir }),
  ];
  expect(calls.map(({ code }) => code)).toEqual(calls.map(() => 64));
  expect(calls.map(({ stderr }) => stderr.split('\n')[0]?.replaceAll(folder.path, 'X'))).toEqual([
    'error usage: X/elsewhere is not in a Git repository: run skep plan --render in the checkout that is to be compared',
    'error usage: name the folder of manifests to compare: --path clusters/prod',
    'error usage: name the branch, tag or commit to compare with: --base main',
    'error usage: neither main nor HEAD has files below "absent": name a folder with manifests (--path is relative to the current directory)',
    'error usage: --path ../elsewhere is outside of the repository X/fleet: name a folder inside it',
    "error usage: option '--render' cannot be used with option '-c, --config <file>'",
    "error usage: option '--render' cannot be used with option '--out <file>'",
    "error usage: option '--render' cannot be used with option '--source <name=folder>'",
    'error usage: --path, --base and --head need --render',
  ]);
  const absent = await render('--path', 'apps', '--base', 'absent');
  expect([absent.code, absent.stderr]).toEqual([
    1,
    'error git-ref-not-found: this clone has no branch, tag or commit "absent": fetch it (in CI, with the whole history), or name a commit with all 40 digits\n',
  ]);
  execFileSync('git', ['-C', fleet.dir, 'checkout', '--quiet', '--detach']);
  rmSync(join(fleet.dir, '.git/refs/heads/main'));
  expect(await render('--path', 'apps', '--base', 'main')).toMatchObject({ code: 1 });
});
