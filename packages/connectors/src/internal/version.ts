/** The version that this package's transforms and predicates report. */
export const version = "0.1.0"
