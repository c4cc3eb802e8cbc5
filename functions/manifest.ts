import { ADMIN_FUNCTIONS } from './admin-functions.ts'
import { API_FUNCTIONS } from './api-functions.ts'
import { BACKGROUND_FUNCTIONS } from './background-functions.ts'
import type { FunctionSpec } from './function-spec.ts'
import { updatedFields } from './updated-fields.ts'

/** The CDK stack and the local gateway read this list. */
export const MANIFEST: readonly FunctionSpec[] = [
  ...API_FUNCTIONS,
  ...BACKGROUND_FUNCTIONS,
  ...ADMIN_FUNCTIONS,
].map((spec) => ({ ...spec, updates: updatedFields(spec.name) }))
