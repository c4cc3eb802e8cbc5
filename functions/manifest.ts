import { ADMIN_FUNCTIONS } from './admin-functions.ts'
import { API_FUNCTIONS } from './api-functions.ts'
import { BACKGROUND_FUNCTIONS } from './background-functions.ts'
import type { FunctionSpec } from './function-spec.ts'

/**
 * Every function, what starts it and what it may touch. The CDK stack and the local gateway are two targets of this
 * list; neither has a second one.
 */
export const MANIFEST: readonly FunctionSpec[] = [...API_FUNCTIONS, ...BACKGROUND_FUNCTIONS, ...ADMIN_FUNCTIONS]
