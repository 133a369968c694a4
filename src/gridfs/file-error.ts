// What can be wrong with stored files and with what is asked of them. GridFS keeps a file as one document and many chunks that no
// transaction of its drivers joins, so a bucket can be in any state; whatever does not fit is told, never guessed at.

/**
 * `corrupt`: the documents of the file do not make up its bytes. `unavailable`: the database behind cannot be reached or cannot answer now. `gone`: the file that was opened is not there any more. `bad-name`: a name or id that no file can have. `bad-metadata`: what metadata cannot have. `exists`: a file of this
 * name is there and was not to be. `bad-chunk-size`: out of its limits. `digest-mismatch`: the bytes are not those announced. `ended`: the upload was finished or aborted before.
 */
export type FileErrorCode = 'corrupt' | 'unavailable' | 'gone' | 'bad-name' | 'bad-metadata' | 'bad-chunk-size' | 'digest-mismatch' | 'exists' | 'ended';

/** Where in a file: its id as text, and the number of the chunk where it is one chunk's fault. */
export interface FilePlace {
  readonly id?: string;
  readonly n?: number;
}

/** An error that says something of a file; all else (no space, closed) stays what the storage says. */
export class FileError extends Error {
  override readonly name: string = 'FileError';
  readonly code: FileErrorCode;
  readonly place: FilePlace;

  constructor(code: FileErrorCode, message: string, options: { cause?: unknown; place?: FilePlace } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.place = options.place ?? {};
  }
}
