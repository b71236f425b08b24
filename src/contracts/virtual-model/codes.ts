// Defines the codes of findings about virtual MCP servers and their workflows.

export const VIRTUAL_CODES = {
  'workflow-description-missing':
    'A composite tool has no description: clients choose tools by it, so say what it does.',
  'workflow-step-duplicate': 'Two steps of a workflow have the same id: give each its own.',
  'workflow-dependency-unknown':
    'dependsOn names a step that the workflow does not have: correct the name, or add the step.',
  'workflow-dependency-cycle':
    'Steps wait for one another, so none of them ever starts: remove one of the dependencies.',
  'workflow-template-invalid': 'A text is no valid Go template; the message says where and what would be right.',
  'workflow-step-unknown':
    'A template reads the result of a step that the workflow does not have: correct the name, or add the step.',
  'workflow-step-not-awaited':
    'A template reads the result of a step that need not be done by then: add that step to dependsOn. Steps run in the order of their dependencies, not of the list.',
  'workflow-value-unknown':
    'A template reads a value that nothing sets, which gives "<no value>": correct the name, or declare the parameter.',
  'workflow-default-results-missing':
    'A step may be skipped, or fail and be passed over, and something reads a field of its output: give that field in defaultResults.',
  'workflow-expression-invalid':
    'A condition can give nothing but true or false, a collection nothing but a JSON list; this one never does.',
  'workflow-output-invalid': 'A property of the output is not well-formed; the message says which part of it.',
  'workflow-schema-invalid': 'A JSON Schema inside of a workflow cannot be used; the message says which part of it.',
  'workflow-setting-unused': 'A setting has no effect as it stands: remove it, or correct what it depends on.',
} as const;

export type VirtualCode = keyof typeof VIRTUAL_CODES;
