// Applies limits that all replicas share. Chooses the buckets of a call, and formats the refusal.

import { sha256 } from '#std/hash.ts';
import type { Denial, GateCode } from './codes.ts';
import type { KeyedBucket, Taken, TokenBucket } from './ports.ts';

interface BucketPair {
  readonly shared?: TokenBucket;
  readonly perUser?: TokenBucket;
}

export interface RateLimitSettings extends BucketPair {
  /** Limits by the name under which clients call the tool. */
  readonly tools: ReadonlyMap<string, BucketPair>;
}

export interface CountedCall {
  /** Text that is equal for all clients of a user. */
  readonly user: string;
  /**
   * Names under which clients call the tools: the called tool, and the tool that the called tool calls in turn, if any.
   */
  readonly tools: readonly string[];
  /**
   * True if the call is a part of another call. The limits of the whole server were already counted for that other
   * call.
   */
  readonly isInner?: true;
}

export interface RateLimits {
  /** Takes the tokens of a call. Returns undefined if no limit applies to the call. Never rejects. */
  take(call: CountedCall): Promise<CountedResult> | undefined;
}

interface CountedResult {
  /** Absent if the call is permitted. */
  readonly denial?: Denial;
  /** Name of the limit, for the operator. */
  readonly detail?: string;
  /** True if the store was unavailable, so that only this replica counted. */
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
  /** Name of the limit in the Kubernetes resource. */
  readonly name: string;
}

/** Takes a token for each limit. `first` is the limit that a refusal names if the store returns an unknown index. */
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
