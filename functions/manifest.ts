import { ADMIN_FUNCTIONS } from './admin-functions.ts'
import { API_FUNCTIONS } from './api-functions.ts'
import { BACKGROUND_FUNCTIONS } from './background-functions.ts'
import type { FunctionSpec } from './function-spec.ts'

/** Every function, for the CDK stack and the local gateway. */
export const MANIFEST: readonly FunctionSpec[] = [
  ...API_FUNCTIONS,
  ...BACKGROUND_FUNCTIONS,
  ...ADMIN_FUNCTIONS,
]
