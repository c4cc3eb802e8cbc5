import * as v from 'valibot'
import { apiKeyText, KEY_RANDOM_BYTES } from '../../client/api-key.ts'
import { ClientIdSchema } from '../../ids.ts'
import { PROBE, ROUTE_PROBE } from './probe.ts'

const NO_CLIENT = v.parse(ClientIdSchema, '00000000-0000-4000-8000-000000000000')

/** A well-formed key of the stage that was never issued: each API function looks it up and answers 401. */
export const unknownKey = (stage: string): string => apiKeyText(stage, NO_CLIENT, Buffer.alloc(KEY_RANDOM_BYTES))

/** The probe of a function. With a route: an API Gateway request to that route with the unknown key. */
export const probeEvent = (stage: string, route: string | undefined): object =>
  route === undefined
    ? PROBE
    : {
        ...ROUTE_PROBE,
        version: '2.0',
        routeKey: route,
        headers: { authorization: `Bearer ${unknownKey(stage)}` },
        requestContext: { requestId: 'release-probe' },
        isBase64Encoded: false,
      }
