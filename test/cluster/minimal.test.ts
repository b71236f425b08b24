// What manifests/install gives is needed. Rules are taken away one at a time, and a run over a commit that makes, changes and
// deletes one of everything fails, and says so. Then single rights (verb, resource, name) are taken away, those with one verb
// together, until the server has refused each of them to a run. Both for a whole cluster and for single namespaces; the
// CronJob has the account of the Deployment, and the registry service has no rights at all. Only a real server knows rights.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { type Rule, rightsFor, rightsIn, rulesOf } from './account.ts';
import { ASKED_OF_MANY } from './asked-elsewhere.ts';
import { openStripped, type Right, type Run, rightsOfRule, type Stripped } from './stripped.ts';

const FORMS = [
  {
    form: 'a whole cluster',
    isWhole: true,
    rights: (home: string, _: string, group: string) => rightsFor(home, group),
  },
  { form: 'single namespaces', isWhole: false, rights: rightsIn },
];

function titleOf({ metadata }: KubeObject, { resources, verbs, resourceNames = [] }: Rule): string {
  return [metadata.name, ...verbs, 'of', ...resources, ...resourceNames].join(' ');
}

/** What is the same in all forms (install.test.ts) is taken away in the first one. */
function rolesOf(rights: readonly KubeObject[], isWhole: boolean): readonly KubeObject[] {
  const roles = rights.filter(({ kind }) => kind.endsWith('Role'));
  return isWhole ? roles : roles.filter(({ metadata }) => !metadata.name.startsWith('skep-fleet'));
}

describe.skipIf((process.env.KUBECONFIG ?? '') === '').each(FORMS)('of the reconciler of $form', (form) => {
  let stripped: Stripped;
  let usual: Run;

  beforeAll(async () => {
    stripped = await openStripped(form.rights, form.isWhole);
    await stripped.run();
    usual = await stripped.run();
  });
  afterAll(() => stripped?.close());

  test('with all of it nothing is refused', () => {
    expect(usual.forbidden).toEqual([]);
  });

  const rules = rolesOf(form.rights('HOME', 'TEAM', 'GROUP'), form.isWhole).flatMap((role, at) =>
    rulesOf(role).flatMap((rule, index) =>
      rightsOfRule(role, rule).every(isAskedOfMany) ? [] : [{ title: titleOf(role, rule), at, index }],
    ),
  );

  test.each(rules)('a run fails without: $title', async ({ at, index }) => {
    const role = rolesOf(stripped.roles, form.isWhole)[at];
    const rule = role && rulesOf(role)[index];
    if (role === undefined || rule === undefined) throw new Error('no such rule');
    const rights = rightsOfRule(role, rule);
    if (rule.verbs.includes('create') && rights.some(isAtHome)) await stripped.forget();
    await stripped.without(rights);
    const { complaints, forbidden } = await stripped.run();
    const news = complaints.filter((complaint) => !usual.complaints.includes(complaint));
    expect(forbidden.length).toBeGreaterThan(0);
    expect(news).not.toEqual([]);
  });

  const singlesOf = (roles: readonly KubeObject[]) =>
    rolesOf(roles, form.isWhole).flatMap((role) => rulesOf(role).flatMap((rule) => rightsOfRule(role, rule)));
  const verbs = new Set(singlesOf(form.rights('HOME', 'TEAM', 'GROUP')).map(verbOf));
  // Only a process that stays watches: a run of it alone does not.
  verbs.delete('watch');

  test.each([...verbs])(
    'each single right to %s is refused to a run that lacks it',
    async (verb) => {
      await stripped.without([]);
      const rights = singlesOf(stripped.roles).filter((right) => verbOf(right) === verb && !isAskedOfMany(right));
      expect(rights.length).toBeGreaterThan(0);
      expect(await neverRefused(verb, rights)).toEqual([]);
    },
    300_000,
  );

  /** Takes all of them away, gives back what was refused, and so on; what no run is ever refused. */
  async function neverRefused(verb: string, rights: readonly Right[]): Promise<readonly Right[]> {
    let left = rights;
    for (;;) {
      if ((verb === 'create' || verb === 'patch') && left.some(isAtHome)) await stripped.forget();
      await stripped.without(left);
      const { forbidden } = await stripped.run({
        contended: verb === 'get',
        guarded: verb === 'get' || verb === 'update',
      });
      const refused = forbidden.map((seen) => seen.forbidden ?? '');
      const next = left.filter((right) => !refused.some((text) => isAbout(text, right)));
      if (next.length === left.length || next.length === 0) return next;
      left = next;
    }
  }
});

function isAskedOfMany(right: Right): boolean {
  return ASKED_OF_MANY[right.slice(right.indexOf(' ') + 1)] !== undefined;
}

/** About the records of the instance: some of them are made once. */
function isAtHome(right: Right): boolean {
  return right.startsWith('skep-home:') || right.startsWith('skep-records:');
}

function verbOf(right: Right): string {
  return right.split(' ')[1] ?? '';
}

/**
 * `... "name" is forbidden: User "..." cannot VERB resource "RESOURCE" in API group "GROUP" ...`, or, of a Role that gives
 * what its writer does not have, `{APIGroups:["GROUP"], Resources:["RESOURCE"], Verbs:["VERB"]}`.
 */
function isAbout(answer: string, right: Right): boolean {
  const [, verb = '', what = '', name] = right.split(' ');
  const [group = '', ...resource] = what.split('/');
  const { message } = JSON.parse(answer) as { message: string };
  const asked = `cannot ${verb} resource "${resource.join('/')}" in API group "${group}"`;
  if (message.includes(asked)) return name === undefined || message.includes(`"${name}" is forbidden`);
  return message.includes('not currently held') && givesOn(message, { group, resource: resource.join('/'), verb });
}

function givesOn(message: string, { group, resource, verb }: Record<'group' | 'resource' | 'verb', string>): boolean {
  const rules = message.matchAll(
    /\{APIGroups:\[([^\]]*)\], Resources:\[([^\]]*)\](?:, ResourceNames:\[[^\]]*\])?, Verbs:\[([^\]]*)\]/g,
  );
  return [...rules].some(
    ([, groups = '', resources = '', verbs = '']) =>
      groups.includes(`"${group}"`) && resources.includes(`"${resource}"`) && verbs.includes(`"${verb}"`),
  );
}
