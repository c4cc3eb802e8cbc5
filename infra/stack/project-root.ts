import { join } from 'node:path'

/** The folder of this project. */
export const PROJECT_ROOT = join(import.meta.dirname, '../..')
