/** The runtime of every function. docs/changing.md, "The next runtime", says how to raise it. */
export const NODE_MAJOR = 24
