// Counts runs of workflows under the metric names of ToolHive. Labels contain only configured names, so their number is
// bounded.

import type { Metrics } from '#std/telemetry/metrics.ts';

export interface WorkflowMetrics {
  ended(workflow: string, failed: boolean, seconds: number): void;
}

/** Upper bounds of the buckets in seconds, as in ToolHive. */
const SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

export function addWorkflowMetrics(metrics: Metrics): WorkflowMetrics {
  const labels = ['workflow_name'];
  const executions = metrics.counter(
    'toolhive_vmcp_workflow_executions_total',
    'Runs of workflows that ended.',
    labels,
  );
  const errors = metrics.counter('toolhive_vmcp_workflow_errors_total', 'Runs of workflows that failed.', labels);
  const durations = metrics.histogram(
    'toolhive_vmcp_workflow_duration_seconds',
    'Duration of the runs of workflows, in seconds.',
    labels,
    SECONDS,
  );
  return {
    ended(workflow, failed, seconds) {
      executions.add([workflow]);
      if (failed) errors.add([workflow]);
      durations.observe([workflow], seconds);
    },
  };
}
