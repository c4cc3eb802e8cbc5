import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { isKnownSecret } from '../is-known-secret.ts'
import { originSecretName } from '../secrets.ts'
import { isRouteProbe } from './release/probe.ts'

/** CloudFront sets it on every request to its origin, over whatever the caller sent under this name. */
export const ORIGIN_HEADER = 'x-gateway-origin'

// Long enough that nobody guesses it: a short value would be an operator's mistake.
const Value = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{32,1024}$/))
const OriginSecretSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({ current: Value, previous: v.optional(Value) }),
)

/**
 * Refuses HTTP that did not come through the stage's front, before anything is read or written for it. Does nothing in
 * a stage without one. When the secret is missing or malformed nobody is let in: the error says so, and never what is
 * in it.
 *
 * Rotation: put {"current": new, "previous": old}, wait two minutes (a function whose text does not fit reads one of more
 * than a minute again), raise `originSecretRotation` in the stage’s file and deploy the front; when CloudFront has spread it,
 * put {"current": new}.
 */
export const originGuard = (
  deps: Pick<Deps, 'secrets' | 'stage'>,
): MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> => ({
  before: async ({ event }) => {
    if (deps.stage.behindFront !== true) return
    // A probe does not come through the front. That the secret can be read is what it shows here.
    if (isRouteProbe(event)) return void (await originSecrets(deps))
    const given = event.headers[ORIGIN_HEADER]
    if (!(await isKnownSecret((fresh) => originSecrets(deps, fresh), given))) {
      throw new GatewayError('forbidden', 'requests must go to the public address of this API')
    }
  },
})

/** Whether the stored text has the form the functions read. For those who fill it in. */
export const isOriginSecret = (text: string): boolean => v.is(OriginSecretSchema, text)

const originSecrets = async (
  { secrets, stage }: Pick<Deps, 'secrets' | 'stage'>,
  fresh?: 'fresh',
): Promise<readonly string[]> => {
  const text = await secrets.get(originSecretName(stage.name), fresh)
  if (text === undefined) throw new Error('the origin secret is missing')
  const parsed = v.safeParse(OriginSecretSchema, text)
  // Without its cause, which would quote the secret.
  if (!parsed.success) throw new Error('the origin secret is malformed')
  const { current, previous } = parsed.output
  return previous === undefined ? [current] : [current, previous]
}
