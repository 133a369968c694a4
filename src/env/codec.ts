// Codecs: compression as synchronous functions from bytes to bytes in the caller's memory (engine.md, "Rules for hot code" 6 and 9). The
// ids are in the files on disk and never change their meaning. Checksums are the caller's: a codec notices only what breaks its format,
// but whatever it is given it neither crashes, nor reads or writes outside the two arrays.

/** Name of a compression method. */
export type CodecName = 'none' | 'lz4' | 'zlib' | 'zstd';

/** One compression method. */
export interface Codec {
  /** The method byte on disk: 0 none, 1 lz4, 2 zlib, 3 zstd. */
  readonly id: number;
  readonly name: CodecName;
  /** Length that `compress` never exceeds for `length` bytes of input. */
  maxCompressedLength(length: number): number;
  /** Compresses all of `source` into `target`, which has room for `maxCompressedLength(source.length)`; returns the bytes written. The two must not overlap. */
  compress(source: Uint8Array, target: Uint8Array): number;
  /**
   * Decompresses all of `source` into `target`, whose length is the length before compression; returns it. Input that is not whole, or
   * yields any other length, is EngineError `corruption`; `target` then holds rubbish. The two must not overlap.
   */
  decompress(source: Uint8Array, target: Uint8Array): number;
}

/** The methods this process knows; all four are always there. */
export interface Codecs {
  byName(name: CodecName): Codec;
  /** The method of a byte on disk; an unknown one is EngineError `format`. */
  byId(id: number): Codec;
}
