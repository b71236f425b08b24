// Finds settings of an MCPServer that contradict its setting to sleep.

import { pointerToken } from '#std/json.ts';
import type { Finding } from '../kind.ts';
import { SLEEP_ANNOTATIONS } from '../proxy/annotations.ts';
import { type Server, sessionPool, sleepOf } from './facts.ts';

export function sleepFindings(self: Server): readonly Finding[] {
  if (sleepOf(self) === undefined) return limitFindings(self);
  const { replicas, backendReplicas } = self.spec;
  return [
    ...(backendReplicas === undefined
      ? []
      : [conflict('/spec/backendReplicas', 'the proxy sets the number of servers: remove backendReplicas')]),
    ...(replicas === undefined || replicas < 2
      ? []
      : [
          conflict(
            '/spec/replicas',
            'a proxy cannot know which calls another proxy serves: set replicas to 1, or remove it',
          ),
        ]),
    ...(sessionPool(self) === undefined
      ? []
      : [
          conflict(
            annotationPointer(SLEEP_ANNOTATIONS.sharing),
            `each session has its own process, which ends with it: remove ${SLEEP_ANNOTATIONS.sharing}`,
          ),
        ]),
  ];
}

function conflict(pointer: string, why: string): Finding {
  const message = `the server sleeps (${SLEEP_ANNOTATIONS.after}), and ${why}. Or remove ${SLEEP_ANNOTATIONS.after}`;
  return { code: 'sleep-conflict', severity: 'error', pointer, message };
}

/** Warns of a time limit for starting a server that never sleeps. */
function limitFindings({ resource }: Server): readonly Finding[] {
  const { after, limit } = SLEEP_ANNOTATIONS;
  const annotations = resource.metadata.annotations ?? {};
  if (annotations[limit] === undefined || annotations[after] !== undefined) return [];
  const message = `${limit} has no effect: the server never sleeps without ${after}`;
  return [{ code: 'annotation-idle', severity: 'warning', pointer: annotationPointer(limit), message, at: 'key' }];
}

function annotationPointer(annotation: string): string {
  return `/metadata/annotations/${pointerToken(annotation)}`;
}
