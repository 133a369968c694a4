// Which MongoDB this server speaks as. The wire version and the version must agree: clients and test suites choose by either. 21 and 7.0
// until the `bulkWrite` command is there, which 25 and 8.0 demand (compatibility.md 4.18, 4.19).

/** Highest wire version. */
export const WIRE_VERSION_MAX = 21;

/** The version of MongoDB whose behaviour is kept. */
export const MONGODB_VERSION = '7.0.14';

export const MONGODB_VERSION_PARTS: readonly number[] = [7, 0, 14, 0];

/** The feature compatibility version that goes with it. */
export const FEATURE_VERSION = '7.0';
