// Lists the codes of findings about virtual MCP servers and their workflows.

export const VIRTUAL_CODES = {
  'workflow-description-missing':
    'A composite tool has no description: clients choose tools by it, so describe the tool.',
  'workflow-step-duplicate': 'Two steps of a workflow have the same id: give each its own.',
  'workflow-dependency-unknown':
    'dependsOn names a step that the workflow does not have: correct the name, or add the step.',
  'workflow-dependency-cycle':
    'Steps wait for one another, so none of them ever starts: remove one of the dependencies.',
  'workflow-template-invalid': 'A text is not a valid Go template: correct it as the message says.',
  'workflow-step-unknown':
    'A template reads the result of a step that the workflow does not have: correct the name, or add the step.',
  'workflow-step-not-awaited':
    'A template reads the result of a step that may not be done by then: add that step to dependsOn. Steps run in the order of their dependencies, not of the list.',
  'workflow-value-unknown':
    'A template reads a value that is never set, which results in "<no value>": correct the name, or declare the parameter.',
  'workflow-default-results-missing':
    'A step may be skipped, or may fail without ending the workflow, and a field of its output is read: set that field in defaultResults.',
  'workflow-expression-invalid':
    'A condition must result in true or false, a collection in a JSON list. This one never does.',
  'workflow-output-invalid': 'A property of the output is not well-formed. The message names the part.',
  'workflow-schema-invalid': 'A JSON Schema inside a workflow cannot be used. The message names the part.',
  'workflow-setting-unused': 'A setting has no effect: remove it, or correct the setting that it depends on.',
} as const;

export type VirtualCode = keyof typeof VIRTUAL_CODES;
