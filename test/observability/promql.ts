// What a PromQL expression asks for, read from its syntax tree.

import { parser } from '@prometheus-io/lezer-promql';

interface Matcher {
  readonly label: string;
  /** `=`, `!=`, `=~`, `!~`. */
  readonly operator: string;
  readonly value: string;
}

interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

interface Grouping {
  readonly by: 'by' | 'without' | 'match';
  readonly labels: readonly string[];
}

export interface Query {
  readonly selectors: readonly Selector[];
  readonly groupings: readonly Grouping[];
}

type Node = ReturnType<typeof parser.parse>['topNode'];

/** Throws where it is no PromQL. */
export function readQuery(text: string): Query {
  const selectors: Selector[] = [];
  const groupings: Grouping[] = [];
  const textOf = ({ from, to }: Node) => text.slice(from, to);

  function matcherOf(node: Node): Matcher {
    const [label, operator, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((name) => {
      const part = node.getChild(name);
      if (part === null) throw new Error(`${text}: a matcher that is not read yet: ${textOf(node)}`);
      return textOf(part);
    });
    return { label: label ?? '', operator: operator ?? '', value: JSON.parse(value ?? '') };
  }

  function labelsOf(node: Node): string[] {
    return node.getChildren('GroupingLabels').flatMap((list) => list.getChildren('LabelName').map(textOf));
  }

  parser.parse(text).iterate({
    enter({ node, type }) {
      if (type.isError) throw new Error(`${text}: no PromQL at character ${node.from}`);
      if (type.name === 'VectorSelector') {
        const name = node.getChild('Identifier');
        const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
        selectors.push({ metric: name === null ? '' : textOf(name), matchers: matchers.map(matcherOf) });
      }
      if (type.name === 'AggregateModifier') {
        groupings.push({ by: node.getChild('By') === null ? 'without' : 'by', labels: labelsOf(node) });
      }
      if (type.name === 'MatchingModifierClause') groupings.push({ by: 'match', labels: labelsOf(node) });
    },
  });
  return { selectors, groupings };
}
