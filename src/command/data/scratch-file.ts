// The scratch place of one stage: a file in the directory `tmp` beside the data, removed when the stage is done. What a crash left there is
// removed when the next one is opened first.

import type { Scratch, ScratchPlace } from '../../exec/index.ts';
import type { Env, File } from '../../env/index.ts';
import type { CommandContext } from '../command.ts';

/** Directories that this process has swept already. */
const swept: WeakMap<Env, Promise<void>> = new WeakMap();

async function sweep({ files }: Env, directory: string): Promise<void> {
  await files.makeDirectory(directory);
  for (const name of await files.list(directory)) await files.remove(`${directory}/${name}`);
}

class ScratchFile implements Scratch {
  readonly #env: Env;
  readonly #file: File;
  #size = 0;

  constructor(env: Env, file: File) {
    this.#env = env;
    this.#file = file;
  }

  async append(bytes: Uint8Array): Promise<ScratchPlace> {
    const place = { offset: this.#size, length: bytes.length };
    this.#size += bytes.length;
    await this.#file.write(bytes, place.offset);
    return place;
  }

  async read({ offset, length }: ScratchPlace): Promise<Uint8Array> {
    const target = new Uint8Array(length);
    await this.#file.read(target, offset);
    return target;
  }

  close(): void {
    const { files } = this.#env;
    // Nobody waits for it; what cannot be removed now goes at the next start.
    void this.#file.close().then(() => files.remove(this.#file.path)).catch(() => undefined);
  }
}

/** What opens scratch places for a command. */
export function scratchOpener({ server }: CommandContext): () => Promise<Scratch> {
  return () => openScratch(server.env, server.options.dbPath);
}

/** Opens a new one. */
async function openScratch(env: Env, dbPath: string): Promise<Scratch> {
  const directory = `${dbPath}/tmp`;
  const ready = swept.get(env) ?? sweep(env, directory);
  swept.set(env, ready);
  await ready;
  const name = `${String(env.host.pid)}-${String(env.random.uint32())}-${String(env.random.uint32())}`;
  return new ScratchFile(env, await env.files.open(`${directory}/${name}`, 'create'));
}
