// The workflows of a virtual server as tools of its own: which there are now, and what the log says of their runs.

import type { Logger } from 'pino';
import type { VmcpConfig } from '../../../contracts/vmcp-config.ts';
import type { InnerCalls, OwnTools } from '../../../vmcp/own-tools/ports.ts';
import type { Workflow } from '../../../vmcp/workflows/definition.ts';
import type { RunEvent } from '../../../vmcp/workflows/ports.ts';
import { createWorkflowTools, defineTools } from '../../../vmcp/workflows/tools.ts';
import { VERSION } from '../../version.ts';
import { proxyClock } from '../proxy-clock.ts';

export interface Workflows {
  readonly ownTools: (calls: InnerCalls) => OwnTools;
  replace(config: VmcpConfig): void;
}

export function openWorkflows(config: VmcpConfig, logger: Logger): Workflows {
  let current = config;
  let tools = defineTools(config.compositeTools ?? []);
  return {
    ownTools: (calls) =>
      createWorkflowTools({
        ...{ name: config.name, version: VERSION, calls, clock: proxyClock },
        replica: `w${proxyClock.random(6).toString('hex')}`,
        observer: { dropped: () => undefined, log: (level, message) => logger[level]({ part: 'workflows' }, message) },
        workflows: () => tools,
        // In mode `fail` the call says what is missing.
        hidesIncomplete: () => current.operational.failureHandling.partialFailureMode === 'best_effort',
        begin: (workflow) => (event) => reportEvent(logger, workflow, event),
      }),
    replace(next) {
      tools = defineTools(next.compositeTools ?? []);
      current = next;
    },
  };
}

/** The words of failures are for the client, who has them: they may hold what a server said. */
function reportEvent(logger: Logger, { name }: Workflow, event: RunEvent): void {
  if (event.kind === 'ended') logger.info({ workflow: name, result: event.result.kind }, 'a workflow ended');
  if (event.kind === 'step-ended') logger.debug({ workflow: name, step: event.step, end: event.end }, 'a step ended');
}
