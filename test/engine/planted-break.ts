// A law broken on purpose, and what notices.

import type { Break } from '../support/plant.ts';

/** What is run against a copy: a kind of history and its seed, or the name of a scenario. */
export type Catcher =
  | { readonly by: 'history' | 'ranges' | 'clients' | 'images' | 'lives' | 'failing writes' | 'damage' | 'large weather' | 'large history' | 'large clients' | 'large images' | 'large lives'; readonly seed: number }
  | { readonly by: 'scenario'; readonly name: string };

export interface PlantedBreak extends Break {
  readonly law: string;
  readonly name: string;
  readonly caught: Catcher;
}

/** Says that a seed of some kind of history notices. */
export function seeded(by: Exclude<Catcher['by'], 'scenario'>): (seed: number) => Catcher {
  return (seed) => ({ by, seed });
}

/** Says that a scenario notices. */
export function scenario(name: string): Catcher {
  return { by: 'scenario', name };
}
