// Builds manifests that need excessive time or memory.

/** Returns a CRD with 2 MB of validation rules, and an object for which every rule is evaluated. */
export function costlyRules(): string {
  const rule = Array.from({ length: 400 }, (_, i) => `self.a${i}.size() < 100 || self.b.all(x, x.startsWith('q${i}'))`);
  const rules = Array.from({ length: 70 }, (_, i) => ({
    rule: rule.join(' && ').replaceAll('q', `q${i}_`),
    message: 'no',
  }));
  const strings = Array.from({ length: 400 }, (_, i) => [`a${i}`, { type: 'string', maxLength: 200 }]);
  const b = { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 10 } };
  const properties = { ...Object.fromEntries(strings), b };
  const spec = { type: 'object', properties, 'x-kubernetes-validations': rules };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things', singular: 'thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  };
  const values = Object.fromEntries(strings.map(([name]) => [name, 'v'.repeat(150)]));
  const thing = {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'thing', namespace: 'default' },
    spec: { ...values, b: ['x'] },
  };
  return `${JSON.stringify(definition)}\n---\n${JSON.stringify(thing)}\n`;
}

/** Returns a short YAML text that needs hundreds of times its size in memory after parsing. */
export function costlyText(): string {
  const items = Array.from({ length: 180_000 }, (_, i) => `  k${i}: {a: [1, 2]}`);
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: costly, namespace: default}\ndata:\n${items.join('\n')}\n`;
}
