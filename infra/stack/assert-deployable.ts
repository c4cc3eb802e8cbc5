import { isIPv4 } from 'node:net'
import type { TimeOfDay } from '../../functions/function-spec.ts'
import { PROVIDER_FEES } from '../../shared/stage-settings.ts'
import { MOST_ENDPOINTS } from '../../shared/webhook/endpoint/endpoint-store.ts'
import { assertCarried } from './capacity/assert-carried.ts'
import { assertClientLimits } from './capacity/assert-client-limits.ts'
import { assertStageName, type DeployedStage, hasAlarms } from './stage.ts'

const isTimeOfDay = ({ hour, minute }: TimeOfDay): boolean =>
  Number.isInteger(hour) && hour >= 0 && hour <= 23 && Number.isInteger(minute) && minute >= 0 && minute <= 59

const isRate = (rate = 1): boolean => Number.isInteger(rate) && rate >= 1 && rate <= 1_000_000

const isWithin = (value: number, most: number): boolean => value > 0 && value <= most

const isRange = (text: string): boolean => {
  const [, address = '', bits] = /^([\d.]+)\/(\d{1,2})$/.exec(text) ?? []
  return isIPv4(address) && Number(bits) >= WIDEST_RANGE_BITS && Number(bits) <= 32
}
/** A wider one is a network of many, and no merchant's. */
const WIDEST_RANGE_BITS = 24

/** An attempt has no more time: shared/webhook/send/https-webhook-sender.ts. */
const MOST_ATTEMPT_MS = 10_000

/** With a fifth each, five addresses together fill a route. */
const MOST_ADDRESS_SHARE = 0.2

/**
 * Refuses what must never be deployed, whoever built the settings: webhooks to loopback addresses would reach the
 * Lambda runtime's own API. Only the local gateway, which is no stack, allows them.
 */
export const assertDeployable = (stage: DeployedStage): void => {
  const { settings, front, domain } = stage
  assertStageName(settings.name)
  const wrong: Readonly<Record<string, boolean>> = {
    'metrics ride on INFO lines, so with WARN its alarms would watch silence':
      stage.logLevel === 'WARN' && hasAlarms(stage),
    'sweepAtUtc must be an hour from 0 to 23 and a minute from 0 to 59, both whole': !isTimeOfDay(stage.sweepAtUtc),
    'auditAtUtc must be a time of day as sweepAtUtc is': !isTimeOfDay(stage.auditAtUtc),
    'webhooks to loopback addresses exist only in the local gateway': settings.allowLoopbackWebhooks,
    [`providerFees is one of ${PROVIDER_FEES.join(', ')}`]:
      settings.providerFees !== undefined && !PROVIDER_FEES.includes(settings.providerFees),
    'providerCallsPerMinute is a whole number from 1 to 1,000,000': !isRate(settings.providerCallsPerMinute),
    [`deliveries.endpointsAPayment is above 0 and at most ${MOST_ENDPOINTS}`]: !isWithin(
      stage.deliveries.endpointsAPayment,
      MOST_ENDPOINTS,
    ),
    [`deliveries.attemptMs is above 0 and at most ${MOST_ATTEMPT_MS}`]: !isWithin(
      stage.deliveries.attemptMs,
      MOST_ATTEMPT_MS,
    ),
    'clientRateLimit is a whole number from 1 to 1,000,000': !isRate(settings.clientRateLimit),
    'clientCreateLimit is a whole number from 1 to 1,000,000': !isRate(settings.clientCreateLimit),
    'keyLifetimeDays is a whole number from 1 to 1,000,000': !isRate(settings.keyLifetimeDays),
    'CloudFront needs a domain, since the address API Gateway makes up stays open':
      front === 'cloudfront' && domain === undefined,
    [`an address may have ${MOST_ADDRESS_SHARE} of what a route takes at most`]:
      stage.frontSettings.addressShare > MOST_ADDRESS_SHARE,
    'frontSettings.merchantAddresses are IPv4 ranges such as 203.0.113.7/32, none wider than /24':
      !stage.frontSettings.merchantAddresses.every(isRange),
    [`${domain?.name} is no name of the zone ${domain?.zone.name}`]:
      domain !== undefined && !`.${domain.name}`.endsWith(`.${domain.zone.name}`),
  }
  for (const [reason, isSo] of Object.entries(wrong)) {
    if (isSo) throw new Error(`stage ${settings.name}: ${reason}`)
  }
  assertCarried(stage)
  assertClientLimits(stage)
}
