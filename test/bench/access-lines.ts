import type { FRONT_LOG_FIELDS } from '../../infra/stack/edge/front-log.ts'
import type { ACCESS_LOG_FIELDS } from '../../infra/stack/triggers/gateway-http-api.ts'

/** One line of the API's access log, of a create. */
const API: Readonly<Record<keyof typeof ACCESS_LOG_FIELDS, string>> = {
  request_id: 'JKJaXmPLvHcESHA=',
  ip: '203.0.113.195',
  route: 'POST /v1/payments',
  status: '201',
  response_latency_ms: '905',
  integration_latency_ms: '902',
  integration_status: '200',
  integration_error: '-',
  error: '-',
}

/** And of the front's. */
const FRONT: Readonly<Record<(typeof FRONT_LOG_FIELDS)[number], string>> = {
  date: '2026-11-23',
  time: '07:03:27',
  'c-ip': '203.0.113.195',
  'cs-method': 'POST',
  'sc-status': '201',
  'sc-bytes': '1402',
  'cs-bytes': '1120',
  'time-taken': '0.912',
  'x-edge-location': 'CGK50-P1',
  'x-edge-request-id': 'JrmYPLaHRtv4TiLtDBnPfR6n6cDLK5hVKFvH9YzS9gLqKz0x2RzUBQ==',
  'x-edge-detailed-result-type': 'Miss',
}

/** Bytes that AWS itself logs for a request: every field that the stacks name, with a value of the usual length. */
export const ACCESS_LINE_BYTES = Buffer.byteLength(JSON.stringify(API) + JSON.stringify(FRONT))
