// `$sample`: so many documents by chance, each as likely as any other, in random order. Follows the manual's page "$sample (aggregation)".

import { Decimal128, Document, isNumber, roundNumber, toDouble } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { nameOf, refuse } from '../../query/index.ts';
import { drain, gathered } from '../batches.ts';
import { MEMORY_BYTES_MAX, outOfMemory } from '../memory.ts';
import type { StageRule } from '../stage.ts';

function sizeOf(specification: Value): number {
  if (!(specification instanceof Document)) throw refuse(28745, 'the $sample stage specification must be an object');
  for (const [name, value] of specification.fields) {
    if (name !== 'size') throw refuse(28748, `unrecognized option to $sample: ${name}`);
    if (!isNumber(value)) throw refuse(28746, `size argument to $sample must be a number, got ${nameOf(value)}`);
  }
  const size = specification.get('size');
  if (!isNumber(size)) throw refuse(28749, '$sample stage must specify a size');
  // A decimal is rounded, a double cut.
  const whole = Math.trunc(toDouble(size instanceof Decimal128 ? (roundNumber(size, 0, 'half-even') ?? size) : size));
  if (!(whole > 0)) throw refuse(28747, 'size argument to $sample must be a positive integer');
  return whole;
}

/** Some of all documents that come by: the n-th takes the place of one that was taken with the chance that makes all alike. */
class Reservoir {
  readonly documents: Document[] = [];
  readonly #size: number;
  readonly #random: () => number;
  #seen = 0;
  #bytes = 0;

  constructor(size: number, random: () => number) {
    this.#size = size;
    this.#random = random;
  }

  take(document: Document): void {
    this.#seen += 1;
    const place = this.documents.length < this.#size ? this.documents.length : Math.floor(this.#random() * this.#seen);
    if (place >= this.#size) return;
    this.#bytes += document.byteLength - (this.documents[place]?.byteLength ?? 0);
    this.documents[place] = document;
    if (this.#bytes > MEMORY_BYTES_MAX) throw outOfMemory('$sample');
  }

  shuffled(): Document[] {
    const { documents } = this;
    for (let last = documents.length - 1; last > 0; last--) {
      const other = Math.floor(this.#random() * (last + 1));
      const [a, b] = [documents[last], documents[other]];
      if (a !== undefined && b !== undefined) [documents[last], documents[other]] = [b, a];
    }
    return documents;
  }
}

/** How `$sample` is compiled. Without a source of chance it is refused as unknown. */
export const sampleRule: StageRule = {
  name: '$sample',
  parse: (specification, { options }) => {
    const { random } = options;
    if (random === undefined) throw refuse(40324, `Unrecognized pipeline stage name: '$sample'`);
    const size = sizeOf(specification);
    return {
      name: '$sample',
      specification,
      open: (source) =>
        gathered(source, async (context) => {
          const reservoir = new Reservoir(size, random);
          await drain(source, context, (batch) => batch.forEach((document) => reservoir.take(document)));
          return reservoir.shuffled();
        }),
      needs: () => 'some',
    };
  },
};
