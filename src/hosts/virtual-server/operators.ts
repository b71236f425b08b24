// Provides two documents of a virtual server to operators: its metrics, and its status with the names of backends,
// items and workflows.

import { OPERATOR_PATHS, operatorToken } from '#contracts/virtual/operator-documents.ts';
import { VMCP_ENV, type VmcpConfig } from '#contracts/vmcp-config.ts';
import type { OperatorDocuments } from '#gateway/virtual-server/operators.ts';
import { type Overview, overviewDocument } from '#gateway/virtual-server/overview.ts';
import type { Environment } from '#std/environment.ts';
import { METRICS_CONTENT_TYPE } from '#std/telemetry/metrics.ts';
import { VERSION } from '../version.ts';

export interface OperatorParts {
  readonly environment: Environment;
  /** Returns the current configuration. */
  readonly config: () => VmcpConfig;
  /** Returns the current state of all parts. */
  readonly parts: () => Pick<Overview, 'members' | 'offer' | 'resolution' | 'runs'>;
  readonly metricsText: () => string;
}

export function openOperatorDocuments({ environment, config, parts, metricsText }: OperatorParts): OperatorDocuments {
  const secret = environment[VMCP_ENV.sessionHmacSecret];
  function overview(): Overview {
    const { name, metadata, backends, compositeTools: workflows = [] } = config();
    const memberMetadata = Object.fromEntries(backends.map((each) => [each.name, each.metadata]));
    return { ...parts(), name, version: VERSION, metadata, memberMetadata, workflows };
  }
  return {
    token: secret === undefined ? undefined : operatorToken(secret),
    find(path) {
      if (path === OPERATOR_PATHS.metrics) return { type: METRICS_CONTENT_TYPE, text: metricsText() };
      if (path !== OPERATOR_PATHS.status) return undefined;
      return { type: 'application/json; charset=utf-8', text: `${JSON.stringify(overviewDocument(overview()))}\n` };
    },
  };
}
