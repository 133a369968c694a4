// The table of compression methods. Ids are on disk: a line here is never changed and never used again.

import { must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { compressLz4, decompressLz4, lz4LengthMax } from '../base/lz4.ts';
import type { Codec, CodecName, Codecs } from './codec.ts';
import { wrongLength, zlibCodec } from './zlib.ts';
import { loadZstdCodec } from './zstd.ts';

/** Method 0: bytes as they are. */
const plainCodec: Codec = {
  id: 0,
  name: 'none',
  maxCompressedLength: (length: number): number => length,
  compress(source: Uint8Array, target: Uint8Array): number {
    target.set(source);
    return source.length;
  },
  decompress(source: Uint8Array, target: Uint8Array): number {
    if (source.length !== target.length) throw wrongLength(source.length, target.length);
    target.set(source);
    return source.length;
  },
};

/** Method 1. */
const lz4Codec: Codec = {
  id: 1,
  name: 'lz4',
  maxCompressedLength: lz4LengthMax,
  compress: compressLz4,
  decompress: decompressLz4,
};

/** All methods, ready to be used synchronously. */
export async function loadCodecs(): Promise<Codecs> {
  const codecs = [plainCodec, lz4Codec, zlibCodec, await loadZstdCodec()];
  const names = new Map<CodecName, Codec>(codecs.map((codec) => [codec.name, codec]));
  const ids = new Map<number, Codec>(codecs.map((codec) => [codec.id, codec]));
  return {
    byName: (name: CodecName): Codec => must(names.get(name), 'every codec name is in the table'),
    byId: (id: number): Codec => {
      const codec = ids.get(id);
      if (codec === undefined) throw new EngineError('format', `compression method ${String(id)} is not known`);
      return codec;
    },
  };
}
