import { join } from 'node:path'

export const PROJECT_ROOT = join(import.meta.dirname, '../..')

/**
 * The folder of source maps beside the assets of a deployment:
 * `cdk.out/source-maps/<function>.mjs.map`.
 */
export const SOURCE_MAPS = 'source-maps'
