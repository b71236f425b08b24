// Defines the exchange of a caller's token for temporary credentials of a cloud.

import { integer, list, object, optional, text } from '#std/schema.ts';
import { subjectProvider } from './subject-provider.ts';

function roleArn(description: string) {
  return text(description, { pattern: '^arn:[a-z-]+:iam::[0-9]{12}:role/[0-9A-Za-z_+=,.@/-]+$' });
}

const RoleMapping = object(
  {
    claim: optional(text('Value that the claim named by roleClaim must contain.', { minLength: 1 })),
    matcher: optional(
      text('CEL expression over the claims of the token, as the map claims. The role applies if it is true.', {
        minLength: 1,
      }),
    ),
    roleArn: roleArn('Resource name of the role.'),
    priority: optional(
      integer('Mappings are tried from the lowest number on, those without one last.', { minimum: 0 }),
    ),
  },
  'A role, and who gets it.',
  {
    validations: [
      {
        rule: 'has(self.claim) != has(self.matcher)',
        message: 'exactly one of claim and matcher must be set',
      },
    ],
  },
);

/** Named CloudStsConfig in ToolHive's documents. */
export const CloudSts = object(
  {
    region: text('Region of the token service, and of the signatures.', {
      minLength: 1,
      pattern: '^[a-z]{2}(-[a-z]+)+-[0-9]+$',
    }),
    service: text('Service that requests are signed for.', { default: 'cloud-mcp' }),
    fallbackRoleArn: optional(roleArn('Resource name of the role of callers that no mapping matches.')),
    roleMappings: optional(list(RoleMapping, 'Which callers get which role. The first one that matches counts.')),
    roleClaim: text("Claim that holds the caller's groups or roles.", { default: 'groups', minLength: 1 }),
    sessionDuration: integer('Seconds that credentials last.', { default: 3600, minimum: 900, maximum: 43_200 }),
    subjectProviderName: subjectProvider('token of the caller'),
    sessionNameClaim: text('Claim that names the session in logs of the cloud.', { default: 'sub', minLength: 1 }),
  },
  "The caller's token is exchanged for temporary credentials of a role, and requests are signed with them (SigV4).",
  {
    validations: [
      {
        rule: 'has(self.fallbackRoleArn) || (has(self.roleMappings) && self.roleMappings.size() > 0)',
        message: 'at least one of fallbackRoleArn and roleMappings must be set',
      },
    ],
  },
);
