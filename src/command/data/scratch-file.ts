// The scratch place of one stage: a file in the directory `tmp` beside the data, removed when the stage is done. What a crash left there is
// removed when the next one is opened first.

import type { Scratch, ScratchPlace, WorkMemory, Workspace } from '../../exec/index.ts';
import type { Env, File } from '../../env/index.ts';

/** What has a directory to open scratch files beside. */
interface ScratchHost {
  readonly env: Env;
  readonly options: { readonly dbPath: string };
  readonly workMemory: WorkMemory;
}

/** The servers whose directory has been swept already. */
const swept: WeakMap<ScratchHost, Promise<void>> = new WeakMap();

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

/** What the stages of an operation work in. */
export function workspaceOf(server: ScratchHost, mayExceed: boolean): Workspace {
  return { memory: server.workMemory, mayExceed, openScratch: () => openScratch(server) };
}

/** Opens a new one. */
async function openScratch(server: ScratchHost): Promise<Scratch> {
  const { env } = server;
  const directory = `${server.options.dbPath}/tmp`;
  const ready = swept.get(server) ?? sweep(env, directory);
  swept.set(server, ready);
  // What failed is tried again by the next one.
  await ready.catch((error: unknown) => {
    swept.delete(server);
    throw error;
  });
  const name = `${String(env.host.pid)}-${String(env.random.uint32())}-${String(env.random.uint32())}`;
  return new ScratchFile(env, await env.files.open(`${directory}/${name}`, 'create'));
}
