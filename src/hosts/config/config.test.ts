// Checks that a message about a wrong setting contains the place of the setting.

import { expect, test } from 'vitest';
import { readConfig } from './read-config.ts';

const TEXT = 'sources: [{name: fleet, repository: "https://git.example.com/fleet.git"}]\napply: {maxDeletes: -1}\n';

function check(environment: Record<string, string>, expected: RegExp): void {
  expect(() => readConfig({ text: TEXT, file: 'skep.yaml', environment })).toThrow(expected);
}

test('a message about a wrong value in the file contains its line and column', () => {
  check({}, /^skep\.yaml:2:21: error schema-/);
});

test('a message about a wrong value in the environment names its variable, and not the file', () => {
  check({ SKEP_APPLY_MAXDELETES: 'many' }, /^error schema-\S+: SKEP_APPLY_MAXDELETES: /);
});

test('a message about a wrong value in a variable with JSON names the variable', () => {
  check({ SKEP_APPLY: '{"maxDeletes": "many"}' }, /^error schema-\S+: SKEP_APPLY: /);
});

test('an instance must not have a name that another instance uses for its own objects', () => {
  check({ SKEP_NAME: 'team-trigger' }, /SKEP_NAME: name: a name that ends in .*-trigger is reserved for/);
  check({ SKEP_NAME: 'team-approval' }, /SKEP_NAME: name: a name that ends in -approval, /);
  check({ SKEP_NAME: 'trigger' }, /^skep\.yaml:2:21: error schema-[^\n]*$/);
});

function checkSource(source: string, expected: RegExp | undefined): void {
  const text = `sources: [{name: fleet, ${source}}]\n`;
  const read = () => readConfig({ text, file: 'skep.yaml', environment: {} });
  if (expected === undefined) expect(read).not.toThrow();
  else expect(read).toThrow(expected);
}

test.each([
  { source: 'repository: "https://git.example.com/x.git"' },
  { source: 'repository: "ssh://git@git.example.com:2222/x.git"' },
  { source: 'repository: "git@git.example.com:team/x.git"' },
  { source: 'repository: "git.example.com:/srv/x.git"' },
  { source: 'repository: "git://git.example.com/x.git"' },
  { source: 'repository: "file:///srv/git/x.git"' },
  { source: 'repository: /srv/git/x.git', expected: /sources\/0\/repository|repository/ },
  { source: 'repository: "ftp://git.example.com/x.git"', expected: /repository/ },
  { source: 'repository: "h:x", branch: main, semver: 1.x', expected: /at most one of branch, tag, semver and commit/ },
  { source: 'repository: "h:x", auth: {username: bot}', expected: /username goes with passwordFile/ },
  { source: 'repository: "h:x", auth: {}', expected: /give username and passwordFile, or sshKeyFile/ },
  { source: 'repository: "h:x", auth: {sshKeyFile: k}', expected: /sshKeyFile with knownHostsFile/ },
  { source: 'repository: "h:x", auth: {sshKeyFile: k, knownHostsFile: h}' },
  { source: 'repository: "h:x", verify: {keys: [k]}' },
  { source: 'repository: "h:x", verify: {keys: []}', expected: /keys/ },
  { source: 'repository: "h:x", verify: {keys: [k], mode: tag}', expected: /only if a tag is followed/ },
  { source: 'repository: "h:x", semver: ^1, verify: {keys: [k], mode: both}' },
  { source: 'repository: "h:x", namespace: team-a' },
  { source: 'repository: "h:x", namespace: Team', expected: /namespace/ },
  { source: 'repository: "h:x", namespace: team-a, allow: {namespaces: [team-*]}' },
  {
    source: 'repository: "h:x", namespace: other, allow: {namespaces: [team-*]}',
    expected:
      /^skep\.yaml:1:\d+: error setting-rule: sources\[0\]\.namespace: allow\.namespaces .* leaves this namespace out/,
  },
])('a source with $source', ({ source, expected }) => checkSource(source, expected));

test('a broken rule is reported in addition to other problems, and not if a setting has the wrong type', () => {
  const source = 'sources: [{name: fleet, repository: "h:x", branch: main, tag: v1, pathh: x}]\n';
  const reading = (text: string) => () => readConfig({ text, file: 'skep.yaml', environment: {} });
  expect(reading(source)).toThrow(
    /schema-unknown-field: .*pathh.*\n.*error setting-rule: sources\[0\]: at most one of branch/,
  );
  expect(reading(`${source}windows: [{hours: many}]\n`)).not.toThrow(/setting-rule/);
  expect(reading(`${source}windows: [{hours: 2}]\n`)).toThrow(
    /error setting-rule: windows\[0\]: give either allow or deny/,
  );
  expect(reading(`${source}git: {credentials: [{host: git.example.com, username: bot}]}\n`)).toThrow(
    /error setting-rule: git\.credentials\[0\]: username goes with passwordFile/,
  );
});

const SOUND = TEXT.replace('-1', '1');

test('a misspelled variable is refused with a suggestion; variables of other programs are ignored', () => {
  const others = {
    SKEP_PORT: 'tcp://10.0.0.1:8081',
    SKEP_SERVICE_HOST: '10.0.0.1',
    SKEP_REGISTRY_PORT: 'x',
    SKEP_SEED: '7',
  };
  const read = (environment: Record<string, string>) => () =>
    readConfig({ text: SOUND, file: 'skep.yaml', environment });
  expect(read(others)).not.toThrow();
  expect(read({ SKEP_APPLY_MAXDELETS: '3' })).toThrowErrorMatchingInlineSnapshot(
    `[Failure: error schema-unknown-field: SKEP_APPLY_MAXDELETS: there is no setting of this name. Did you mean SKEP_APPLY_MAXDELETES?]`,
  );
});

test('two channels with the same URL are refused, because the stored notices of both would have one key', () => {
  const reading = (notify: string) => () =>
    readConfig({ text: `${SOUND}notify:\n  ${notify}\n`, file: 'skep.yaml', environment: {} });
  const chat = (file: string, service = 'slack') => `{service: ${service}, urlFile: ${file}}`;
  expect(reading(`chats: [${chat('/a')}, ${chat('/b')}]`)).not.toThrow();
  expect(reading(`chats: [${chat('/a')}, ${chat('/b')}, ${chat('/a', 'teams')}]`)).toThrow(
    /^skep\.yaml:4:\d+: error schema-duplicate-item: notify\.chats\[2\] has the same urlFile as entry 0\./,
  );
  const webhook = (secret: string) => `{url: "https://hooks.example.com/x", secretFile: ${secret}}`;
  expect(reading(`webhooks: [${webhook('/a')}, ${webhook('/b')}]`)).toThrow(
    /^skep\.yaml:4:\d+: error schema-duplicate-item: notify\.webhooks\[1\] /,
  );
});

test('an unknown source in dependsOn, or a cycle of sources, is refused with the place of the dependency', () => {
  const sourceOf = (name: string, dependsOn: string) =>
    `  - {name: ${name}, repository: "h:${name}", dependsOn: [${dependsOn}]}\n`;
  const reading = (...sources: readonly string[]) => {
    return () => readConfig({ text: `sources:\n${sources.join('')}`, file: 'skep.yaml', environment: {} });
  };
  expect(reading(sourceOf('apps', 'infra'), sourceOf('infra', ''))).not.toThrow();
  expect(reading(sourceOf('apps', 'infa'), sourceOf('infra', ''))).toThrow(
    /^skep\.yaml:2:52: error setting-rule: sources\[0\]\.dependsOn\[0\]: no source has the name "infa"\. Did you mean "infra"\?$/,
  );
  expect(reading(sourceOf('a', 'b'), sourceOf('b', 'c'), sourceOf('c', 'b, a'), sourceOf('d', 'd'))).toThrow(
    /^skep\.yaml:2:\d+: error .*: sources wait for each other: a -> b -> c -> a\. .*\n.*:3:\d+: error .*: b -> c -> b\. .*\n.*:5:\d+: error .*: d -> d\. .*$/,
  );
  const many = Array.from({ length: 60 }, (_, index) =>
    sourceOf(`s${index}`, Array.from({ length: 59 - index }, (_each, next) => `s${index + next + 1}`).join(', ')),
  );
  expect(reading(...many)).not.toThrow();
});
