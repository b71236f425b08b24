// Opens the receivers of notices about an instance's runs.

import type { Outbound } from '#adapters/http/outbound.ts';
import { sendChat } from '#adapters/notify/chat.ts';
import { sendCommitStatus } from '#adapters/notify/commit-status.ts';
import { sendWebhook } from '#adapters/notify/webhook.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { chatMessageOf } from '#reconciler/run/notify/chat.ts';
import { openClusterMemory } from '#reconciler/run/notify/in-cluster.ts';
import { noticeOfChat, noticeOfCommit, noticeOfRun } from '#reconciler/run/notify/notices.ts';
import type { Channel } from '#reconciler/run/notify/ports.ts';
import { type Notices, openNotices } from '#reconciler/run/notify/tell.ts';
import type { Cluster } from '#reconciler/run/ports.ts';
import { sha256 } from '#std/hash.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { readSecretFile } from '../../config/secret-file.ts';
import { forgeOf } from './forge.ts';

/** Returns undefined if skep.yaml names no receivers. */
export function openNotifier(
  config: Config,
  cluster: Pick<Cluster, 'get' | 'create' | 'replace'>,
  homeNamespace: string,
  { outbound, traceParent }: { readonly outbound: Outbound; readonly traceParent: TraceParentOf | undefined },
): Notices | undefined {
  const channels = [
    ...statuses(config, outbound),
    ...webhooks(config, outbound, traceParent),
    ...chats(config, outbound),
  ];
  if (channels.length === 0) return undefined;
  const memory = openClusterMemory(cluster, { instance: config.name, homeNamespace });
  return openNotices({ channels, memory, clock: systemClock });
}

function statuses(
  { name, sources, notify: { commitStatus }, outbound: { allowFiles } }: Config,
  outbound: Outbound,
): Channel[] {
  if (commitStatus === undefined) return [];
  const { provider, tokenFile, apiUrl, targetUrl, context = `skep/${name}` } = commitStatus;
  return sources.flatMap((source): Channel[] => {
    const place = forgeOf(source.repository, allowFiles);
    if (place === undefined) return [];
    const options = {
      provider,
      ...place,
      apiUrl,
      targetUrl,
      token: () => firstOf(tokenFile),
      // Two sources may be two paths of the same repository, so each source needs its own context.
      context: sources.length === 1 ? context : `${context}/${source.name}`,
    };
    return [
      {
        key: `status.${source.name}`,
        notice: (record) => noticeOfCommit(record, source.name),
        send: (notice) => sendCommitStatus(outbound, options, notice),
      },
    ];
  });
}

type TraceParentOf = () => string | undefined;

function webhooks({ name, notify }: Config, outbound: Outbound, traceParent: TraceParentOf | undefined): Channel[] {
  return notify.webhooks.map(({ url, secretFile }): Channel => {
    const options = { url, instance: name, secret: () => firstOf(secretFile), traceParent };
    return {
      key: `webhook.${sha256(url).slice(0, 12)}`,
      notice: noticeOfRun,
      send: (notice) => sendWebhook(outbound, options, notice),
    };
  });
}

/**
 * The key of the stored notice contains a digest of the file's path. The URL in the file is a secret and may change.
 */
function chats({ name, sources, notify, outbound: { allowFiles } }: Config, outbound: Outbound): Channel[] {
  const repositories = new Map(sources.map((source) => [source.name, source.repository]));
  function commitUrl(source: string, commit: string): string | undefined {
    const repository = repositories.get(source);
    const place = repository === undefined ? undefined : forgeOf(repository, allowFiles);
    // This is the path of a commit in GitHub, GitLab and Gitea. Other hosts may differ.
    return place === undefined ? undefined : `${place.origin}/${place.path}/commit/${commit}`;
  }
  const firstKinds = new Set(KINDS.map(({ kind }) => kind));
  return notify.chats.map(({ service, urlFile, targetUrl }): Channel => {
    const options = { instance: name, commitUrl, firstKinds, ...(targetUrl === undefined ? {} : { page: targetUrl }) };
    return {
      key: `${service}.${sha256(urlFile).slice(0, 12)}`,
      notice: noticeOfChat,
      namesChanges: true,
      async send(notice) {
        const message = chatMessageOf(notice, options);
        if (message !== undefined) await sendChat(outbound, { service, url: () => firstOf(urlFile) }, message);
      },
    };
  });
}

async function firstOf(file: string): Promise<string> {
  const [secret = ''] = await readSecretFile(file);
  return secret;
}
