import { join } from 'node:path'

/** The folder of this project. */
export const PROJECT_ROOT = join(import.meta.dirname, '../..')

/** Beside the assets, in the directory that a deployment is made from: `cdk.out/source-maps/<function>.mjs.map`. */
export const SOURCE_MAPS = 'source-maps'
