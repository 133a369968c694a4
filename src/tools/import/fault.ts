// What is wrong with one record of an import: the line it begins at, and the trouble in words.

/** A record that is not imported. */
export interface ImportFault {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly message: string;
}
