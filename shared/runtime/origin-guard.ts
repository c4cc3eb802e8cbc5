import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { isKnownSecret, originSecretName, readSecret } from '../secrets.ts'
import { isRouteProbe } from './release/probe.ts'

/** CloudFront sets this header on every request to its origin and replaces a caller's value. */
export const ORIGIN_HEADER = 'x-gateway-origin'

// The minimum length prevents guessing.
const Value = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{32,1024}$/))
const OriginSecretSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({ current: Value, previous: v.optional(Value) }),
)

type OriginDeps = Pick<Deps, 'secrets' | 'stage'>

/**
 * Refuses HTTP requests that did not come through the stage's front, before any read or write.
 * Without a valid secret every request fails. No error contains the secret's value.
 */
export async function assertFromFront(
  deps: OriginDeps,
  event: Pick<APIGatewayProxyEventV2, 'headers'>,
) {
  if (deps.stage.behindFront !== true) return
  // A probe does not come through the front; it proves that the secret can be read.
  if (isRouteProbe(event)) return void (await originSecrets(deps))
  const value = event.headers[ORIGIN_HEADER]
  if (await isKnownSecret((fresh) => originSecrets(deps, fresh), value)) return
  throw new GatewayError('forbidden', 'requests must go to the public address of this API')
}

async function originSecrets({ secrets, stage }: OriginDeps, fresh?: 'fresh') {
  const name = originSecretName(stage.name)
  const { current, previous } = await readSecret(secrets, name, OriginSecretSchema, fresh)
  return previous === undefined ? [current] : [current, previous]
}

/** Checked for the operator who sets the secret. */
export function isOriginSecret(text: string) {
  return v.is(OriginSecretSchema, text)
}
