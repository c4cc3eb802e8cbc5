/**
 * Replaces three modules of Node in every bundle. An import of such a module reads each of its
 * exports, and some exports load more code: one of `node:http` loads the implementation of fetch,
 * a fifth of a start, and `node:util` loads the code of worker threads. This file reads only the
 * exports in use; the bundler refuses an import of another one.
 */
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule('node:http')
export const { isDeepStrictEqual } = process.getBuiltinModule('node:util')
export const { isUtf8 } = process.getBuiltinModule('node:buffer')
