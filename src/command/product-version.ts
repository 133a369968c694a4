// Which MongoDB this server speaks as. The wire version and the version must agree: clients and test suites choose by either. 25
// and 8.0: from there on drivers use the `bulkWrite` command (compatibility.md 4.18, 4.19).

/** Highest wire version. */
export const WIRE_VERSION_MAX = 25;

/** The version of MongoDB whose behaviour is kept. */
export const MONGODB_VERSION = '8.0.16';

export const MONGODB_VERSION_PARTS: readonly number[] = [8, 0, 16, 0];

/** The feature compatibility version that goes with it. */
export const FEATURE_VERSION = '8.0';

/** Those that can be set. */
export const FEATURE_VERSIONS: readonly string[] = ['7.0', FEATURE_VERSION];
