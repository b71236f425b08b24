// Sends and receives topics between replicas over Redis or Valkey (PUBLISH, SUBSCRIBE).

import type { Channel } from '#gateway/backends/relay/ports.ts';
import { connectRedis, type RedisSettings, redisUnreachable } from './connection.ts';

/** Opens a channel that reconnects automatically. `lost` receives connection errors for the log. */
export function openChannel(settings: RedisSettings, lost: (message: string) => void): Channel {
  const sender = connectRedis(settings, lost);
  const listener = connectRedis(settings, lost);
  const topics = new Map<string, (message: Buffer) => void>();
  listener.on('messageBuffer', (topic: Buffer, message: Buffer) => topics.get(topic.toString())?.(message));
  return {
    async publish(topic, message) {
      try {
        return (await sender.publish(topic, message)) > 0;
      } catch (cause) {
        throw redisUnreachable(settings, cause);
      }
    },
    async listen(topic, received) {
      topics.set(topic, received);
      try {
        await listener.subscribe(topic);
      } catch (cause) {
        throw redisUnreachable(settings, cause);
      }
    },
    async close() {
      sender.disconnect();
      listener.disconnect();
    },
  };
}
