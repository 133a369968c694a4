// The public face of GridFS: buckets of files over a store. See file-store.ts for the contracts.

export { openFileStore } from './embedded-store.ts';
export { openRemoteStore } from './remote-store.ts';
export type { RemoteOptions } from './remote-driver.ts';
export { FileError } from './file-error.ts';
export type { FileErrorCode, FilePlace } from './file-error.ts';
export { FileId } from './file-id.ts';
export { readBytes } from './read-bytes.ts';
export { readMemoryBytes } from './file-store.ts';
export type { Soon } from '../catalog/index.ts';
export type {
  FileBucket,
  FileChange,
  FileCheck,
  FilePage,
  FileQuery,
  FileReader,
  FileSortField,
  FileStore,
  FileUpload,
  NewFile,
  ReadRoom,
  ResumableState,
  ResumedUpload,
  ResumeRequest,
  StoredFile,
} from './file-store.ts';
