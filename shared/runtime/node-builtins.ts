/**
 * Replaces these modules in every bundle. An import of one reads all of its exports, and some load
 * more: fetch, a fifth of a start, or worker threads.
 */
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule('node:http')
export const { isDeepStrictEqual } = process.getBuiltinModule('node:util')
export const { isUtf8 } = process.getBuiltinModule('node:buffer')
