// A law broken on purpose, and what notices.

import type { Break } from '../support/plant.ts';

/** What is run against a copy: a kind of history and its seed, or the name of a scenario. */
export type Catcher =
  | { readonly by: 'history' | 'ranges' | 'clients' | 'images' | 'lives' | 'failing writes' | 'damage' | 'large history' | 'large clients' | 'large images' | 'large lives'; readonly seed: number }
  | { readonly by: 'scenario'; readonly name: string };

export interface PlantedBreak extends Break {
  readonly law: string;
  readonly name: string;
  readonly caught: Catcher;
}
