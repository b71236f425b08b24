// What `skep run` may list it may watch as well, so that its runs need no LISTs; with other roles it lists.

import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { rightsFor, rightsIn, rightsOf, rulesOf } from './account.ts';

/** Read when a run needs them, not in each run. */
const NOT_KEPT = [
  'admissionregistration.k8s.io/mutatingadmissionpolicies',
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
];

/** Read when a person opens the page of a resource in the console. */
const BY_CONSOLE = ['events.k8s.io/events'];

test.each([
  { form: 'a whole cluster', roles: rightsFor('home', 'example.com'), unwatched: [...BY_CONSOLE, ...NOT_KEPT] },
  { form: 'one namespace', roles: rightsIn('home', 'team', 'example.com'), unwatched: BY_CONSOLE },
])('the rights for $form include the watches', ({ roles, unwatched }) => {
  const may = (verb: string): readonly string[] =>
    roles
      .flatMap((role: KubeObject) => rulesOf(role).flatMap(rightsOf))
      .filter((right) => right.startsWith(`${verb} `))
      .map((right) => right.slice(verb.length + 1));
  const watched = new Set(may('watch'));
  expect(may('list').filter((resource) => !watched.has(resource))).toEqual(unwatched);
  expect([...watched].filter((resource) => !may('list').includes(resource))).toEqual([]);
});
