import { ADMIN_FUNCTIONS } from './admin-functions.ts'
import { API_FUNCTIONS } from './api-functions.ts'
import { BACKGROUND_FUNCTIONS } from './background-functions.ts'
import { DEFAULTS } from './function-defaults.ts'
import type { FunctionSpec } from './function-spec.ts'

/**
 * Every function, what starts it and what it may touch. The CDK stack and the local gateway are two targets of this
 * list; neither has a second one.
 */
export const MANIFEST: readonly FunctionSpec[] = [
  ...API_FUNCTIONS,
  ...BACKGROUND_FUNCTIONS,
  {
    ...DEFAULTS,
    name: 'split-provider-secret',
    entry: 'functions/deployment/split-provider-secret.ts',
    trigger: { kind: 'deployment' },
    table: {},
    secrets: ['read-provider', 'write-callback-tokens'],
    timeoutSeconds: 60,
  },
  ...ADMIN_FUNCTIONS,
]
