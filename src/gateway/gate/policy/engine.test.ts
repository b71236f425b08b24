import { describe, expect, it } from 'vitest';
import { createEngine, type PolicySet } from './engine.ts';

const CALL = {
  principal: { type: 'Client', id: 'alice' },
  action: { type: 'Action', id: 'call_tool' },
  resource: { type: 'Tool', id: 'weather' },
  context: {},
  entities: [],
};

function permitting(tool: string): PolicySet {
  return { policies: { policy0: `permit(principal, action, resource == Tool::"${tool}");` } };
}

describe('an engine', () => {
  it('evaluates the given set, even after many other sets were used', () => {
    const engine = createEngine();
    const [weather, other] = [permitting('weather'), permitting('other')];
    expect([engine.authorize(weather, CALL).kind, engine.authorize(other, CALL).kind]).toEqual(['allow', 'deny']);
    for (let index = 0; index < 1100; index += 1) {
      expect(engine.authorize(permitting(`tool${index}`), CALL).kind).toBe('deny');
    }
    expect([engine.authorize(weather, CALL).kind, engine.authorize(other, CALL).kind]).toEqual(['allow', 'deny']);
  });

  it('names the policies that forbid a call', () => {
    const forbid = 'forbid(principal, action, resource == Tool::"weather");';
    const policies = { policy0: 'permit(principal, action, resource);', policy2: forbid, policy1: forbid };
    const engine = createEngine();
    expect(engine.authorize({ policies }, CALL)).toEqual({ kind: 'deny', by: ['policy1', 'policy2'] });
    expect(engine.authorize(permitting('other'), CALL)).toEqual({ kind: 'deny', by: [] });
  });

  it('starts again after a set damaged it, and refuses the set after several times', () => {
    const engine = createEngine();
    const weather = permitting('weather');
    const deep = {
      policies: { policy0: `permit(principal, action, resource) when { ${'('.repeat(1000)}true${')'.repeat(1000)} };` },
    };
    for (let index = 0; index < 5; index += 1) {
      expect(engine.authorize(deep, CALL).kind).toBe('failed');
      expect(engine.authorize(weather, CALL).kind).toBe('allow');
    }
    expect(engine.authorize(deep, CALL)).toEqual({ kind: 'failed', detail: 'the policies damaged the engine before' });
  });

  it('fails for a set that it cannot parse', () => {
    const engine = createEngine();
    expect(engine.authorize({ policies: { policy0: 'permit(' } }, CALL)).toEqual({
      kind: 'failed',
      detail: 'the policies were refused',
    });
  });
});
