// Documents put aside in a scratch place, in parts by the hash of a key, to be taken in again part by part: how a `$group` of more groups
// than memory holds goes on. Documents of one part keep their order.

import { Document, readInt32 } from '../bson/index.ts';
import type { BatchSource } from '../session/index.ts';
import { concatBytes } from '../base/bytes.ts';
import type { ValueKey } from '../query/index.ts';
import type { Scratch, ScratchPlace } from './scratch.ts';

const PARTS = 16;
const BUFFER_BYTES = 256 * 1024;

interface Part {
  buffer: Uint8Array[];
  bytes: number;
  readonly places: ScratchPlace[];
}

/** The part of a key; another `seed` parts the same keys differently. */
function partOf(key: ValueKey, seed: number): number {
  const text = String(key);
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return ((hash ^ (hash >>> 15)) >>> 0) % PARTS;
}

/** Documents in parts. */
export class SpilledDocuments {
  readonly #scratch: Scratch;
  readonly #seed: number;
  readonly #parts: Part[] = Array.from({ length: PARTS }, () => ({ buffer: [], bytes: 0, places: [] }));
  #full: Part[] = [];
  /** Of all that was put aside. */
  bytes = 0;

  constructor(scratch: Scratch, seed: number) {
    this.#scratch = scratch;
    this.#seed = seed;
  }

  add(key: ValueKey, document: Document): void {
    const part = this.#parts[partOf(key, this.#seed)];
    if (part === undefined) return;
    const bytes = document.toBytes();
    part.buffer.push(bytes);
    part.bytes += bytes.length;
    this.bytes += bytes.length;
    if (part.bytes >= BUFFER_BYTES && !this.#full.includes(part)) this.#full.push(part);
  }

  /** Writes out what has gathered; to be awaited from time to time. */
  async relieve(): Promise<void> {
    const full = this.#full;
    this.#full = [];
    for (const part of full) await this.#write(part);
  }

  /** The parts that hold anything, each as a source. */
  async parts(): Promise<BatchSource[]> {
    for (const part of this.#parts) await this.#write(part);
    return this.#parts.filter(({ places }) => places.length > 0).map(({ places }) => this.#source([...places]));
  }

  async #write(part: Part): Promise<void> {
    if (part.buffer.length === 0) return;
    const bytes = concatBytes(part.buffer);
    part.buffer = [];
    part.bytes = 0;
    part.places.push(await this.#scratch.append(bytes));
  }

  #source(places: ScratchPlace[]): BatchSource {
    return {
      next: async () => {
        const place = places.shift();
        return place === undefined ? undefined : documentsOf(await this.#scratch.read(place));
      },
      close: () => {
        places.length = 0;
      },
    };
  }
}

function documentsOf(bytes: Uint8Array): Document[] {
  const documents: Document[] = [];
  for (let at = 0; at < bytes.length; at += readInt32(bytes, at)) documents.push(Document.fromBytes(bytes, at));
  return documents;
}
