// Lists all kinds of skep's custom resources.

import { EmbeddingServer } from './embeddingserver/index.ts';
import type { Kind } from './kind.ts';
import { MCPAuthzConfig } from './mcpauthzconfig/index.ts';
import { MCPExternalAuthConfig } from './mcpexternalauthconfig/index.ts';
import { MCPGroup } from './mcpgroup/index.ts';
import { MCPOIDCConfig } from './mcpoidcconfig/index.ts';
import { MCPRegistry } from './mcpregistry/index.ts';
import { MCPRemoteProxy } from './mcpremoteproxy/index.ts';
import { MCPServer } from './mcpserver/index.ts';
import { MCPServerEntry } from './mcpserverentry/index.ts';
import { MCPTelemetryConfig } from './mcptelemetryconfig/index.ts';
import { MCPToolConfig } from './mcptoolconfig/index.ts';
import { MCPWebhookConfig } from './mcpwebhookconfig/index.ts';
import { VirtualMCPCompositeToolDefinition } from './virtualmcpcompositetooldefinition/index.ts';
import { VirtualMCPServer } from './virtualmcpserver/index.ts';

export const KINDS: readonly Kind[] = [
  EmbeddingServer,
  MCPAuthzConfig,
  MCPExternalAuthConfig,
  MCPGroup,
  MCPOIDCConfig,
  MCPRegistry,
  MCPRemoteProxy,
  MCPServer,
  MCPServerEntry,
  MCPTelemetryConfig,
  MCPToolConfig,
  MCPWebhookConfig,
  VirtualMCPCompositeToolDefinition,
  VirtualMCPServer,
];
