// Defines the fields that change labels, annotations and environment of generated objects.

import { object, optional, textMap } from '#std/schema.ts';
import { envField } from '../pods/container.ts';
import { PullSecrets } from '../pods/pull-secrets.ts';

function metadataOverrides(description: string) {
  return object(
    {
      annotations: optional(textMap('Annotations to add; generated ones win.')),
      labels: optional(textMap('Labels to add; generated ones win.')),
    },
    description,
  );
}

const ProxyDeploymentOverrides = object(
  {
    annotations: optional(textMap('Annotations to add to the Deployment; generated ones win.')),
    labels: optional(textMap('Labels to add to the Deployment; generated ones win.')),
    podTemplateMetadataOverrides: optional(metadataOverrides('Labels and annotations to add to the proxy pods.')),
    env: optional(
      envField('Environment of the proxy process itself, not of the MCP server. TOOLHIVE_DEBUG=true logs more.'),
    ),
    imagePullSecrets: optional(PullSecrets),
  },
  'Changes to the Deployment of the proxy.',
);

export const ResourceOverrides = object(
  {
    proxyDeployment: optional(ProxyDeploymentOverrides),
    proxyService: optional(metadataOverrides('Labels and annotations to add to the Service of the proxy.')),
  },
  'Changes to the generated objects that have no fields of their own.',
);
