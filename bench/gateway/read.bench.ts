// A whole file from the database to a client, by chunk size: once what gridfs alone costs, once with HTTP and the socket. The first run reads what the
// upload left; those measured find it in the cache, or, where the cache is smaller than the file, on the disk. MB for each second of processor time
// is 1000 / (cpuNsPerOperation / 1e6), an operation being a megabyte.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openCatalog } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { openHostEnv } from '../../src/env/index.ts';
import { Gateway } from '../../src/gateway/index.ts';
import { openFileStore, readBytes } from '../../src/gridfs/index.ts';
import type { FileBucket, StoredFile } from '../../src/gridfs/index.ts';
import { bench, type Bench, type Prepared, type Work } from '../support/bench.ts';

interface Sizes {
  readonly fileBytes: number;
  readonly chunkBytes: number;
  readonly cacheBytes: number;
}

const MB = 1_000_000;
const small: Sizes = { fileBytes: MB, chunkBytes: 261_120, cacheBytes: 16 * MB };
const large: readonly Sizes[] = [
  { fileBytes: 256 * MB, chunkBytes: 261_120, cacheBytes: 512 * MB },
  { fileBytes: 256 * MB, chunkBytes: 4 * 1024 * 1024, cacheBytes: 512 * MB },
  { fileBytes: 256 * MB, chunkBytes: 261_120, cacheBytes: 64 * MB },
];

interface Stored {
  readonly bucket: FileBucket;
  readonly file: StoredFile;
  readonly gateway: Gateway;
  readonly close: () => Promise<void>;
}

/** A gateway over a data directory of its own, with one file of bytes that do not compress, as films do not. */
async function store({ fileBytes, chunkBytes, cacheBytes }: Sizes): Promise<Stored> {
  const directory = await mkdtemp(join(tmpdir(), 'frond-bench-'));
  const env = await openHostEnv();
  const engine = await openEnvironment(env, directory, { cacheBytes });
  const catalog = await openCatalog(engine, env);
  const files = await openFileStore(catalog, env);
  const bucket = files.bucket('test', 'fs');
  const upload = await bucket.create({ filename: 'film', contentType: 'video/mp4', metadata: new Map(), chunkSize: chunkBytes, onlyIfAbsent: false });
  for (let left = fileBytes; left > 0; left -= MB) await upload.write(env.random.bytes(Math.min(left, MB)));
  const file = await upload.finish();
  await engine.checkpoint();
  const page = new Map();
  const gateway = await Gateway.listen({ host: '127.0.0.1', port: 0, store: files, db: 'test', clock: env.clock, random: env.random, page, onEvent: () => undefined });
  const close = async (): Promise<void> => {
    await gateway.close();
    await files.close();
    await engine.close();
    await rm(directory, { recursive: true });
  };
  return { bucket, file, gateway, close };
}

const workOf = (bytes: number): Work => ({ operations: bytes / MB, bytes, checksum: bytes });

const readChunks = bench<Sizes>({
  name: 'gateway/chunks',
  small,
  large,
  prepare: async (sizes): Promise<Prepared> => {
    const { bucket, file, close } = await store(sizes);
    const run = async (): Promise<Work> => {
      let bytes = 0;
      await readBytes(bucket.open(file), 0, file.length - 1, (chunk) => {
        bytes += chunk.length;
      });
      return workOf(bytes);
    };
    return { run, close };
  },
});

const readOverHttp = bench<Sizes>({
  name: 'gateway/http',
  small,
  large,
  prepare: async (sizes): Promise<Prepared> => {
    const { gateway, file, close } = await store(sizes);
    const client = fileURLToPath(new URL('drain-child.js', import.meta.url));
    const run = async (): Promise<Work> => {
      const child = spawn(process.execPath, [client, String(gateway.address.port), `/b/fs/id/${file.id.text}`], { stdio: ['ignore', 'pipe', 'inherit'] });
      let said = '';
      child.stdout.on('data', (bytes: Buffer) => {
        said += bytes.toString();
      });
      await new Promise((resolve) => child.once('exit', resolve));
      const head = Number(said) - file.length;
      if (!(head > 0 && head < 2000)) throw new Error(`the client received ${said} bytes`);
      return workOf(file.length);
    };
    return { run, close };
  },
});

export const benches: readonly Bench[] = [readChunks, readOverHttp];
