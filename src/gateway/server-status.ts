// What a gateway is told of the server that it is part of: numbers, as serverStatus gives them, and how its trees look.

/** Numbers of the server, nested under names; what is no number is for people. */
export interface ServerStatus {
  /** As `serverStatus` gives them. */
  readonly server: Readonly<Record<string, unknown>>;
  /** One for each tree, the largest first. */
  readonly trees: readonly TreeStatus[];
}

/** One index, or the documents, of a collection. */
export interface TreeStatus {
  readonly ns: string;
  readonly name: string;
  readonly rows: number;
  readonly height: number;
  readonly leaves: number;
  readonly rawBytes: number;
  readonly diskBytes: number;
}
