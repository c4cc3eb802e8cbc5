/**
 * Replaces these modules in every bundle. An import of one reads all of its exports, and some load
 * more: fetch, a fifth of a start, worker threads, file streams, or reports.
 */
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule('node:http')
export const { isDeepStrictEqual } = process.getBuiltinModule('node:util')
export const { isUtf8 } = process.getBuiltinModule('node:buffer')
export const { createReadStream, fstatSync, lstatSync } = process.getBuiltinModule('node:fs')
export const { readFile } = process.getBuiltinModule('node:fs/promises')
export const { env, versions } = process

/** The SDK compares bodies with this, which Node loads late. No body of ours is a file. */
export function ReadStream() {}
