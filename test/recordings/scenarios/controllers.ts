// When the controllers of a real server are done with an object.

import type { Answer } from '../scenario.ts';
import { at } from '../scenario.ts';

/** The status tells of the generation that is stored. */
export function deploymentSettled(answer: Answer): boolean {
  const generation = at(answer.body, '/metadata/generation');
  return generation !== undefined && at(answer.body, '/status/observedGeneration') === generation;
}
