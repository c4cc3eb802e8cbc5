import { join } from 'node:path'

export const PROJECT_ROOT = join(import.meta.dirname, '../..')

/** Beside the assets of a deployment: `cdk.out/source-maps/<function>.mjs.map`. */
export const SOURCE_MAPS = 'source-maps'
