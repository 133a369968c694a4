// `$sortByCount`: groups by an expression, the largest first: a `$group` and a `$sort`. Follows the manual's page "$sortByCount".

import { Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { nameOf, refuse } from '../../query/index.ts';
import type { StageRule } from '../stage.ts';
import { groupRule } from './group.ts';
import { sortStage } from './sort.ts';

function checkKey(specification: Value): void {
  if (specification instanceof Document) {
    const name = specification.first?.[0] ?? '';
    if (!name.startsWith('$')) throw refuse(40147, 'the sortByCount field must be defined as a $-prefixed path or an expression inside an object');
  } else if (typeof specification !== 'string') {
    throw refuse(40149, `the sortByCount field must be specified as a string or as an object, found ${nameOf(specification)}`);
  } else if (!specification.startsWith('$')) {
    throw refuse(40148, 'the sortByCount field must be defined as a $-prefixed path or an expression inside an object');
  }
}

/** How `$sortByCount` is compiled. */
export const sortByCountRule: StageRule = {
  name: '$sortByCount',
  parse: (specification, context) => {
    checkKey(specification);
    const group = Document.of({ _id: specification, count: Document.of({ $sum: 1 }) });
    return [groupRule.parse(group, context), sortStage(Document.of({ count: -1 }), undefined, context.options)].flat();
  },
};
