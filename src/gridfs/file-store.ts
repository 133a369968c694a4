// What a place that keeps GridFS buckets promises to the gateway and to commands: files by id, by name and by page, their bytes by windows of
// chunks, uploads that are whole or absent. Nothing here holds a cursor or a snapshot between two calls, so a reader may pause for as long
// as it likes. Contracts only; follows the GridFS specification of the drivers (names, indexes, revisions, order of deleting).

import type { Soon } from '../catalog/index.ts';
import type { FileId } from './file-id.ts';

/** One file document, read. */
export interface StoredFile {
  readonly id: FileId;
  readonly filename: string | undefined;
  /** Bytes of the file; 0 where `fault` says that the document does not tell. */
  readonly length: number;
  readonly chunkSize: number;
  /** Chunks that a whole file of this length has. */
  readonly chunkCount: number;
  readonly uploadDateMs: number | undefined;
  /** As stored, in the document or in its metadata. */
  readonly contentType: string | undefined;
  /** Hex digits, where the upload computed it. */
  readonly sha256: string | undefined;
  /** The metadata in relaxed Extended JSON. */
  readonly metadata: string | undefined;
  /** Differs whenever the bytes can differ; letters, digits, `-` and `_`. */
  readonly version: string;
  /** What is wrong with the document, in words: the file cannot be read. */
  readonly fault: string | undefined;
}

/** Bytes of one file. Calls come one after the other. */
export interface FileReader {
  /** Whether what is read is put into the memory that is given with the call, in one piece. Else it lies in memory of its own, to which nobody writes any more. */
  readonly fills: boolean;
  /**
   * Bytes of the file from `first` on, `last` (inside) at most and one at least, in order: as many as are best read at once, each checked. FileError `corrupt`
   * with id and chunk where one of these cannot be had; `gone` where the file that was opened has been deleted or another was put in its place:
   * bytes of the two are never mixed.
   */
  read(first: number, last: number, room: ReadRoom): Soon<readonly Uint8Array[]>;
}

/** What there is room for. */
export interface ReadRoom {
  /** So many bytes, or the chunk in which they begin. */
  readonly bytes: number;
  /** Of `readMemoryBytes`, for a reader that fills it. Until the call is over, nobody else uses it. In that of a BlockHash bytes are not moved. */
  readonly memory: Uint8Array;
}

/** Enough for a chunk of the drivers' size, and what is before its bytes. */
export const readMemoryBytes: number = 256 * 1024;

/** What is asked of a new file. */
export interface NewFile {
  readonly filename: string;
  readonly contentType: string | undefined;
  readonly metadata: ReadonlyMap<string, string>;
  /** Undefined: 255 KiB. FileError `bad-chunk-size` out of 1 KiB to 15 MiB. */
  readonly chunkSize: number | undefined;
  /** FileError `exists`, at once or at the end, when the bucket has a file of this name. */
  readonly onlyIfAbsent: boolean;
}

/** What is to be other than it was in a file document. */
export interface FileChange {
  readonly filename: string | undefined;
  /** Fields of the metadata and their new values in Extended JSON; `null` takes one away. Others stay. */
  readonly metadata: ReadonlyMap<string, string>;
}

/** An upload under way. Nobody sees the file before `finish`; after `abort`, a failure or a crash nothing is left of it. */
export interface FileUpload {
  readonly id: FileId;
  /** Takes more bytes, which are copied before it returns or resolves, when it can take the next. */
  write(bytes: Uint8Array): Soon<void>;
  /** The file is durable and listed when it resolves. `sha256` (hex): FileError `digest-mismatch` if the bytes have another. */
  finish(sha256?: string): Promise<StoredFile>;
  /** Forgets the file and deletes what was stored of it. Does nothing after `finish`. */
  abort(): Promise<void>;
}

/** An upload that can be left and gone on with: how far it is. */
export interface ResumableState {
  /** Of the file that it becomes. */
  readonly id: FileId;
  readonly filename: string;
  readonly contentType: string | undefined;
  readonly metadata: ReadonlyMap<string, string>;
  readonly chunkSize: number;
  /** Bytes of the whole file; undefined while it is not known. */
  readonly length: number | undefined;
  /** Bytes that are durable. */
  readonly offset: number;
  readonly expiresMs: number;
}

/** What is said when an upload is gone on with. */
export interface ResumeRequest {
  /** The length, where it was not known before. */
  readonly length: number | undefined;
  readonly expiresMs: number;
}

/** A resumable upload that is gone on with, by one at a time: who calls sees to that. */
export interface ResumedUpload extends FileUpload {
  /** Where it goes on. */
  readonly offset: number;
  /** Makes all that came durable and leaves the upload; how far it is then. */
  suspend(): Promise<number>;
  /** Forgets all that came since it was gone on with, and leaves it. */
  rewind(): Promise<void>;
}

export type FileSortField = 'uploadDate' | 'filename' | 'length';

/** Which page of a bucket's files. */
export interface FileQuery {
  /** Names begin with this. */
  readonly prefix: string;
  readonly sort: { readonly field: FileSortField; readonly direction: 1 | -1 };
  readonly limit: number;
  /** `next` of the page before. */
  readonly after: string | undefined;
  /** Files to leave out. */
  readonly accepts: (file: StoredFile) => boolean;
}

/** Files in order; ties by id, in the same direction. */
export interface FilePage {
  readonly files: readonly StoredFile[];
  /** Where the next page begins; undefined at the end. */
  readonly next: string | undefined;
}

/** What a walk over all chunks of a file found. */
export interface FileCheck {
  readonly sound: boolean;
  readonly chunksExpected: number;
  readonly chunksFound: number;
  readonly bytesFound: number;
  /** Numbers of chunks that are not there; at most a hundred are named. */
  readonly missing: readonly number[];
  /** Numbers of chunks that are beyond the end, there twice, or no whole numbers. */
  readonly extra: readonly number[];
  /** Numbers of chunks whose bytes are too many, too few, or no bytes. */
  readonly wrongLength: readonly number[];
  /** Of the bytes as they are, in order, up to the first that is wrong. */
  readonly sha256: string;
  /** Whether that is what the upload computed; undefined where it did not. */
  readonly sha256Agrees: boolean | undefined;
  /** What is wrong with the file document. */
  readonly fault: string | undefined;
}

/** One bucket: the collections `NAME.files` and `NAME.chunks` of a database. It need not exist. */
export interface FileBucket {
  readonly db: string;
  readonly name: string;
  byId(id: FileId): Soon<StoredFile | undefined>;
  /** Revision 0 is the oldest of the name, -1 the newest, by upload date and then id. */
  byName(filename: string, revision: number): Soon<StoredFile | undefined>;
  /** How many files have this name; counting stops at a thousand. */
  revisions(filename: string): Promise<number>;
  list(query: FileQuery): Promise<FilePage>;
  open(file: StoredFile): FileReader;
  check(file: StoredFile): Promise<FileCheck>;
  create(request: NewFile): Promise<FileUpload>;
  /** Begins an upload that can be left: nothing of it is listed before it is finished. */
  createResumable(request: NewFile, plan: ResumeRequest): Promise<ResumableState>;
  /** How far an upload is; undefined where there is none: finished, removed, expired, never begun. */
  resumable(id: FileId): Promise<ResumableState | undefined>;
  /** Goes on with an upload; undefined where there is none. */
  resume(id: FileId, request: ResumeRequest): Promise<ResumedUpload | undefined>;
  /** Removes an upload and all that came of it. Whether there was one. */
  removeResumable(id: FileId): Promise<boolean>;
  /** Changes name and metadata of a file; the file as it is then, or undefined where there is none. FileError `bad-name`, `bad-metadata`. */
  change(id: FileId, change: FileChange): Promise<StoredFile | undefined>;
  /** Removes the file document, then the chunks. Whether there was one. */
  remove(id: FileId): Promise<boolean>;
}

/** A place that keeps buckets. */
export interface FileStore {
  /** FileError `bad-name` for names that a database or a bucket cannot have. */
  bucket(db: string, name: string): FileBucket;
  /** Rejects when the storage behind does not answer reads any more. */
  ping(): Promise<void>;
  /** Removes the resumable uploads that have expired; how many. */
  removeExpired(): Promise<number>;
  /** Waits for what goes on in the background. */
  close(): Promise<void>;
}

/** Chunk size of the drivers. */
export const chunkSizeDefault: number = 255 * 1024;
export const chunkSizeMin = 1024;
export const chunkSizeMax: number = 15 * 1024 * 1024;
