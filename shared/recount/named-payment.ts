import * as v from 'valibot'
import { type JudgedPayment, judgeById } from '../audit/judged/audit-payments.ts'
import { type PaymentId, PaymentIdSchema } from '../ids.ts'
import { SECOND_MS } from '../time.ts'
import { type Difference, isSame } from '../verdict/difference.ts'
import type { RecountBy, RecountDeps } from './repair.ts'

const OF_PAYMENT = /^(payment|event)(\.|$)/
const NAMED = /\bpayment ([0-9a-f-]{36})$/

/** The payment of a difference: by the difference's id, or by the name in its expected value. */
export const paymentNamedBy = ({ what, id, expected }: Difference): PaymentId | undefined => {
  const named = OF_PAYMENT.test(what) ? id : NAMED.exec(String(expected))?.[1]
  const parsed = v.safeParse(PaymentIdSchema, named)
  return parsed.success ? parsed.output : undefined
}

/** The wait before the second judgement, because a payment may change while it is read. */
const SECOND_LOOK_MS = 10 * SECOND_MS

/** Judges the client's named payments twice and answers the differences found both times. */
export const judgeNamed = async (
  deps: RecountDeps,
  { client: { clientId } }: RecountBy,
  expected: readonly Difference[],
): Promise<readonly JudgedPayment[]> => {
  const ids = [...new Set(expected.flatMap((one) => paymentNamedBy(one) ?? []))]
  if (ids.length === 0) return []
  const first = await judgeById(deps, { clientId }, ids)
  await deps.sleep(SECOND_LOOK_MS)
  const second = await judgeById(deps, { clientId }, ids)
  return second
    .map((judged, at) => ({
      ...judged,
      differences: judged.differences.filter((now) => first[at]?.differences.some((one) => isSame(one, now))),
    }))
    .filter(({ payment }) => payment === undefined || payment.clientId === clientId)
}
