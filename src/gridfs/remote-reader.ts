// Reading a file of another server by windows: one query for the chunks of a window, read to its end, so that no cursor stays open while the player
// pauses; then the file document once more. Who replaces a file removes its document first and writes the new one last, so chunks that were read
// before the document was still the same are those of the file that was opened.

import { Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { readChunk } from './chunk-document.ts';
import { checkChunk, corruptFile, goneFile, missingChunk } from './chunk-reader.ts';
import type { FileReader, ReadRoom, StoredFile } from './file-store.ts';
import type { RemoteDriver } from './remote-driver.ts';
import { findById } from './remote-search.ts';
import { readFileDocument } from './stored-file.ts';
import type { BucketNamespaces } from './upload-storage.ts';

/** The FileReader over a driver. */
export class RemoteReader implements FileReader {
  readonly fills: boolean = false;
  readonly #driver: RemoteDriver;
  readonly #bucket: BucketNamespaces;
  readonly #file: StoredFile;

  constructor(driver: RemoteDriver, bucket: BucketNamespaces, file: StoredFile) {
    this.#driver = driver;
    this.#bucket = bucket;
    this.#file = file;
  }

  /** Whole chunks, as the driver gives them. */
  async read(first: number, last: number, { bytes }: ReadRoom): Promise<readonly Uint8Array[]> {
    const file = this.#file;
    if (file.fault !== undefined) throw corruptFile(file, file.fault);
    const begin = Math.floor(first / file.chunkSize);
    const end = Math.min(Math.floor(last / file.chunkSize), begin + Math.max(1, Math.floor(bytes / file.chunkSize)) - 1);
    const documents = await this.#driver.all(this.#bucket.chunks, { filter: chunkFilter(file.id.value, begin, end), sort: [['n', 1]] });
    const now = await findById(this.#driver, this.#bucket.files, file.id.value);
    if (now === undefined || readFileDocument(now).version !== file.version) throw goneFile(file);
    const slices = documents.map((document, i) => {
      const n = begin + i;
      const chunk = readChunk(document.bytes, document.start);
      checkChunk(file, n, { n: chunk.n, length: chunk.data?.length });
      const at = n * file.chunkSize;
      return (chunk.data ?? document.bytes).subarray(Math.max(0, first - at), last + 1 - at);
    });
    if (begin + slices.length <= end) throw missingChunk(file, begin + slices.length);
    return slices;
  }
}

/** Chunks of a file by their numbers, both inside. */
export function chunkFilter(id: Value, first: number, last: number): Document {
  return Document.of({ files_id: Document.of({ $eq: id }), n: Document.of({ $gte: first, $lte: last }) });
}
