// What a gateway is told of the server that it is part of: numbers, as serverStatus gives them, and how its trees look.

/** Numbers of the server, nested under names; what is no number is for people. */
export interface ServerStatus {
  /** As `serverStatus` gives them. */
  readonly server: Readonly<Record<string, unknown>>;
  /** One for each tree, the largest first. */
  readonly trees: readonly TreeStatus[];
}

/** One level of a tree, from the top: what is in memory above the root, the nodes with what waits in their buffers, the leaves. */
export interface TreeLevel {
  readonly kind: 'fronts' | 'nodes' | 'leaves';
  readonly height: number;
  readonly nodes: number;
  readonly messages: number;
  readonly runs: number;
  readonly rawBytes: number;
  readonly diskBytes: number;
  /** Part of what a leaf or a node is made for; undefined where there is none. */
  readonly fill: number | undefined;
}

/** The levels of a tree by collection and index; undefined where there is none. */
export type ReadLevels = (ns: string, index: string) => Promise<readonly TreeLevel[] | undefined>;

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
