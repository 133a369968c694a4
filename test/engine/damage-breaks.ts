// Containment of damage broken one by one, as planted-breaks.ts has the laws.

import { scenario, seeded } from './planted-break.ts';
import type { PlantedBreak } from './planted-break.ts';

const damage = seeded('damage');

export const damageBreaks: readonly PlantedBreak[] = [
  {
    law: '18', name: 'damage that a job meets ends everything', caught: damage(1),
    file: 'job-runner.js', from: 'if (!isHindrance(error))\n                    throw error;', to: 'throw error;',
  },
  {
    law: '18', name: 'what waits above damage is merged with what is older than its neighbours', caught: damage(37),
    file: 'tree/job/hindrance.js', from: '[...extents, ...buffer.slice(newest.length)]', to: '[...buffer.slice(newest.length), ...extents]',
  },
  {
    law: '18', name: 'a front is thrown away above a damaged leaf', caught: damage(13),
    file: 'tree/job/flush-job.js', from: 'const edit = yield* flushToBuffers(context, top, front);', to: 'const edit = { ...(yield* flushToBuffers(context, top, front)), nodes: [top], added: [] };',
  },
  {
    law: '18', name: 'tidying reads a damaged node again and again', caught: scenario('idle time leaves a damaged leaf alone'),
    file: 'tree/job/tidy-job.js', from: 'if (tree.hindered.has(number)) {\n            leaves.push(undefined);\n            continue;\n        }', to: '',
  },
  {
    law: '18', name: 'damage in a spilled run ends everything', caught: scenario('damage in what a commit has spilled costs the keys of the damaged parts'),
    file: 'tree/job/lost-stretch.js', from: 'if (!isHindrance(error))', to: 'if (true)',
  },
  {
    law: '18', name: 'what of a spilled run is damaged is forgotten when it goes down', caught: scenario('damage in what a commit has spilled costs the keys of the damaged parts'),
    file: 'tree/job/lost-stretch.js', from: 'waiting.push(yield* writeExtent(image, fences));', to: ';',
  },
  {
    law: '18', name: 'a damaged part of a spilled run takes its whole extent along', caught: scenario('damage in what a commit has spilled costs the keys of the damaged parts'),
    file: 'tree/job/lost-stretch.js', from: 'if (index > next)', to: 'if (indexes.length === 0)',
  },
  {
    law: '18', name: 'a copy that is damaged is left so', caught: scenario('a node with one whole copy left is there twice again after some idle time'),
    file: 'block/block-store.js', from: 'this.#takeCopy(slot, { number,', to: 'void ({ number,',
  },
  {
    law: '18', name: 'a sweep ends at a damaged node', caught: damage(13),
    file: 'tidy.js', from: '.catch(undefinedIfDamaged)', to: '',
  },
  {
    law: '18', name: 'a damaged tree cannot be dropped', caught: damage(13),
    file: 'drop-tree.js', from: 'if (!isHindrance(error))\n                throw error;', to: 'throw error;',
  },
  {
    law: '12', name: 'a read goes on below a range delete that hides all the rest', caught: damage(10),
    file: 'tree/search.js', from: 'if (fences.maxSeq < wanted.hidden)', to: 'if (false)',
  },
];
