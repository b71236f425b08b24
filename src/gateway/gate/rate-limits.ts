// Applies limits of calls that all replicas share: chooses the buckets of a call, and writes the refusal.

import { sha256 } from '#std/hash.ts';
import type { Denial, GateCode } from './codes.ts';
import type { KeyedBucket, Taken, TokenBucket } from './ports.ts';

interface BucketPair {
  readonly shared?: TokenBucket;
  readonly perUser?: TokenBucket;
}

export interface RateLimitSettings extends BucketPair {
  /** Limits by the name that clients know. */
  readonly tools: ReadonlyMap<string, BucketPair>;
}

export interface CountedCall {
  /** Equal for equal users, with any client. */
  readonly user: string;
  /** Names that clients know: the called tool, and the tool that it calls in turn. */
  readonly tools: readonly string[];
  /** Set if the call is a part of another call, which already counted against the limits of the server. */
  readonly isInner?: true;
}

export interface RateLimits {
  /** Returns undefined if no limit applies to the call. Never rejects. */
  take(call: CountedCall): Promise<CountedResult> | undefined;
}

interface CountedResult {
  /** Undefined if the call is permitted. */
  readonly denial?: Denial;
  /** Name of the limit, for the operator. */
  readonly detail?: string;
  /** Whether the store was unavailable, and this replica counted by itself. */
  readonly isAlone: boolean;
}

/** Takes the tokens. `isAlone` is true if the store was unavailable. Never rejects. */
export type TakeTokens = (
  buckets: readonly KeyedBucket[],
) => Promise<{ readonly taken: Taken; readonly isAlone: boolean }>;

export function createRateLimits(settings: RateLimitSettings, take: TakeTokens): RateLimits {
  return {
    take(call) {
      const limits = appliedLimits(settings, call);
      const [first] = limits;
      return first === undefined ? undefined : takeAll(limits, first, take);
    },
  };
}

interface Limit {
  readonly bucket: KeyedBucket;
  readonly code: GateCode;
  readonly message: string;
  /** Name as written in the resource. */
  readonly name: string;
}

/** Takes a token from each limit. A refusal that does not name a limit is attributed to `first`. */
async function takeAll(limits: readonly Limit[], first: Limit, take: TakeTokens): Promise<CountedResult> {
  const { taken, isAlone } = await take(limits.map(({ bucket }) => bucket));
  if (taken.ok) return { isAlone };
  const { code, message, name } = limits[taken.empty] ?? first;
  const retryAfterSeconds = Math.max(1, Math.ceil(taken.waitMs / 1000));
  const denial: Denial = { httpStatus: 429, rpcCode: RATE_LIMITED, code, message, retryAfterSeconds };
  return { denial: { ...denial, data: { retryAfterSeconds } }, detail: name, isAlone };
}

/** Error code that clients of ToolHive know (ToolHive's RFC THV-0057). */
const RATE_LIMITED = -32029;

function appliedLimits({ shared, perUser, tools }: RateLimitSettings, call: CountedCall): readonly Limit[] {
  const user = sha256(call.user);
  const own =
    call.isInner === true ? [] : [...limitOf(SHARED, shared, 'shared'), ...limitOf(USER, perUser, `user:${user}`)];
  const named = [...new Set(call.tools)].flatMap((tool) => {
    const limits = tools.get(tool);
    const key = `tool:${encodeURIComponent(tool.toWellFormed())}`;
    return [
      ...limitOf(TOOL, limits?.shared, key, tool),
      ...limitOf(TOOL_USER, limits?.perUser, `${key}:user:${user}`, tool),
    ];
  });
  return [...own, ...named];
}

interface LimitWords {
  readonly code: GateCode;
  readonly message: string;
  readonly field: 'shared' | 'perUser';
}

const MESSAGE = 'Rate limit exceeded';
const SHARED: LimitWords = { code: 'rate-limit-shared', message: MESSAGE, field: 'shared' };
const USER: LimitWords = { code: 'rate-limit-user', message: MESSAGE, field: 'perUser' };
const TOOL: LimitWords = { code: 'rate-limit-tool', message: MESSAGE, field: 'shared' };
const TOOL_USER: LimitWords = { code: 'rate-limit-tool-user', message: MESSAGE, field: 'perUser' };

function limitOf(words: LimitWords, bucket: TokenBucket | undefined, key: string, tool?: string): readonly Limit[] {
  if (bucket === undefined) return [];
  const { code, message, field } = words;
  return [{ bucket: { ...bucket, key }, code, message, name: tool === undefined ? field : `tools[${tool}].${field}` }];
}
