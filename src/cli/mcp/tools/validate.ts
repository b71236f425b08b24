// The tool `validate` of `skep mcp`: validates a text, and returns the JSON of `skep validate`.

import { BUILTIN, openPolicyFiles, policyFiles } from '#hosts/reconciler/instance/policy-files.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { jsonOfValidation } from '#reconciler/report/formats/json.ts';
import { OUTPUT_SCHEMAS } from '#reconciler/report/formats/json-schemas.ts';
import { validate } from '#reconciler/run/validate.ts';
import { sha256 } from '#std/hash.ts';
import { boundedSchema } from '../bounded.ts';
import { data, inputSchema, type McpTool, textArgument } from '../tool.ts';

/**
 * Maximum characters of a text. Large enough for manifests. Malicious YAML of a larger size would need much time and
 * memory.
 */
const MANIFEST_MAX = 256 * 1024;

export const VALIDATE: McpTool = {
  name: 'validate',
  title: 'Validation of a manifest',
  description:
    'Checks a manifest that is given as text (YAML or JSON, several documents are possible): schema, rules, references and policies. References are looked up in the text alone. Reads no file and writes nothing.',
  inputSchema: inputSchema(
    {
      manifest: { type: 'string', minLength: 1, maxLength: MANIFEST_MAX, description: 'The text of the manifest.' },
      namespace: {
        type: 'string',
        maxLength: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
        description: 'Namespace of objects that name none.',
      },
    },
    ['manifest'],
  ),
  outputSchema: boundedSchema(OUTPUT_SCHEMAS.validate),
  async call({ config, args }) {
    const text = textArgument(args, 'manifest') ?? '';
    const { apiGroup, policies } = config;
    const opened = await openPolicyFiles(policyFiles(policies.length === 0 ? [BUILTIN] : policies, apiGroup));
    const namespace = textArgument(args, 'namespace');
    const result = validate({
      documents: [{ path: 'manifest.yaml', oid: sha256(`${namespace}\n${text}`), text, namespace }],
      kinds: KINDS,
      apiGroup,
      policies: opened?.set,
    });
    return data(JSON.parse(jsonOfValidation(result)));
  },
};
