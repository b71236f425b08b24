// Lists the tools of `skep mcp`: all tools that only read, and the allowed actions.

import type { Config } from '#hosts/config/config.ts';
import { ACTIONS, type OperatorAction } from './actions.ts';
import type { McpTool } from './tool.ts';
import { APPROVE } from './tools/approve.ts';
import { DIFF } from './tools/diff.ts';
import { EXPLAIN } from './tools/explain.ts';
import { HISTORY } from './tools/history.ts';
import { PLAN } from './tools/plan.ts';
import { ROLLBACK } from './tools/rollback.ts';
import { SEARCH } from './tools/search.ts';
import { STATUS } from './tools/status.ts';
import { VALIDATE } from './tools/validate.ts';

const ACTING: Readonly<Record<OperatorAction, McpTool>> = { approve: APPROVE, rollback: ROLLBACK };

/** Returns the tools. The catalogue can be searched only if the configuration names its database. */
export function chooseTools({ catalogue }: Config, allowed: readonly OperatorAction[]): readonly McpTool[] {
  const actions = ACTIONS.filter((name) => allowed.includes(name)).map((name) => ACTING[name]);
  const search = catalogue === undefined ? [] : [SEARCH];
  return [STATUS, EXPLAIN, PLAN, DIFF, HISTORY, VALIDATE, ...search, ...actions];
}
