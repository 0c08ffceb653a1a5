/** The version of Kelpie that `GET /` tells. */
export const version = "0.1.0"

/** The commit that this package was built from; releases write it here. */
export const commit = "unknown"
