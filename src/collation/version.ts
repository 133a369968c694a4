// The version of the frozen collation data, beside it and not in it: creating a collection names a collation's version, and only keys of texts
// want the megabyte of tables in data.ts, which is loaded when they are.

/** The version of the data, as MongoDB shows it in a collation. */
export const collationVersion = '57.1';
