import type { Json } from './interview.ts'
import {
  isSuccess,
  notAsked,
  type OpenQuestion,
  type Study,
  shown,
  verdict,
} from './open-question.ts'
import { REQUESTS, rowsOf } from './walk-channel.ts'

const NOTHING_PAID = notAsked('no channel could be paid in this run')
const WALLETS = ['OVO', 'DANA', 'LINKAJA', 'SHOPEEPAY', 'GOPAY'] as const

function paidBy({ walks }: Study, name: string) {
  return walks.get(name)?.paid
}

function paidWalks({ walks }: Study) {
  return [...walks.values()].flatMap(({ name, created, paid }) =>
    paid?.request['status'] === 'SUCCEEDED' ? [{ name, created, ...paid }] : [],
  )
}

const PAYING: readonly OpenQuestion[] = [
  ...WALLETS.map(
    (name): OpenQuestion => ({
      id: `simulate-${name.toLowerCase()}`,
      question: `Does /simulate pay a ${name} request?`,
      ask: (study) => {
        const paid = paidBy(study, name)
        if (!paid) return notAsked(`${name} is not activated for this account`)
        const status = String(paid.request['status'])
        return verdict(status === 'SUCCEEDED', `${shown(paid.simulated)}, then ${status}`)
      },
    }),
  ),
  {
    id: 'ovo-has-no-action',
    question: 'Is the list of actions of an OVO request empty?',
    ask: (study) => {
      const walk = study.walks.get('OVO')
      if (!walk?.paid) return notAsked('OVO is not activated for this account')
      const { actions } = walk.created.json
      return verdict(
        Array.isArray(actions) && actions.length === 0,
        JSON.stringify(actions ?? null),
      )
    },
  },
]

const CANCELS: readonly OpenQuestion[] = [
  ...['QRIS', ...WALLETS].map(
    (name): OpenQuestion => ({
      id: `cancel-${name.toLowerCase()}`,
      question: `Can an open ${name} request be cancelled?`,
      ask: ({ walks }) => {
        const cancelled = walks.get(name)?.cancelled
        if (!cancelled) return notAsked(`${name} is not activated for this account`)
        return verdict(isSuccess(cancelled.answer), shown(cancelled.answer))
      },
    }),
  ),
  {
    id: 'paid-after-cancel',
    question: 'Can a cancelled request still be paid?',
    ask: ({ walks }) => {
      const cancelled = [...walks.values()].flatMap(({ name, cancelled: found }) =>
        found && isSuccess(found.answer) ? [{ name, ...found }] : [],
      )
      if (cancelled.length === 0) return notAsked('no request could be cancelled')
      const paid = cancelled.filter(({ simulated }) => isSuccess(simulated))
      return verdict(
        paid.length > 0,
        cancelled.map(({ name, simulated }) => `${name} ${shown(simulated)}`).join(', '),
      )
    },
  },
]

const LOOK_UPS: readonly OpenQuestion[] = [
  lookUp('lookup-v3', 'Does GET /v3/payment_requests find a request by its reference?', REQUESTS),
  lookUp('lookup-v2', 'Does the v2 list find a v3 request by its reference?', '/payment_requests'),
]

function lookUp(id: string, question: string, path: string): OpenQuestion {
  const field = path === REQUESTS ? 'reference_id' : 'reference_id[]'
  return {
    id,
    question,
    ask: async (study) => {
      const [walk] = paidWalks(study)
      if (!walk) return NOTHING_PAID
      const query = new URLSearchParams({ [field]: String(walk.created.json['reference_id']) })
      const answer = await study.interview.ask(id, { path: `${path}?${query.toString()}` })
      const isFound = rowsOf(answer).some(
        (row) => (row['payment_request_id'] ?? row['id']) === walk.request['payment_request_id'],
      )
      return verdict(isFound, shown(answer))
    },
  }
}

const LISTS: readonly OpenQuestion[] = [
  {
    id: 'row-at-once',
    question: 'Is the row of a payment visible at the first read?',
    ask: (study) => {
      const paid = paidWalks(study)
      if (paid.length === 0) return NOTHING_PAID
      const reads = paid.map(({ name, row, reads: count }) => `${name} ${row ? count : 'none'}`)
      return verdict(
        paid.every(({ row, reads: count }) => row !== undefined && count === 1),
        reads.join(', '),
      )
    },
  },
  {
    id: 'limit-100',
    question: 'Does /transactions accept a limit of 100?',
    ask: async ({ interview }) => {
      const answer = await interview.ask('100 rows', { path: '/transactions?limit=100' })
      return verdict(isSuccess(answer), `${shown(answer)}, ${rowsOf(answer).length} rows`)
    },
  },
  {
    id: 'newest-first',
    question: 'Are rows listed from the newest to the oldest?',
    ask: async ({ interview }) => {
      const times = rowsOf(
        await interview.ask('newest rows', { path: '/transactions?limit=50' }),
      ).map((row) => String(row['created']))
      if (new Set(times).size < 2) return notAsked('there are fewer than two rows')
      return verdict(times.join() === times.toSorted().toReversed().join(), `${times.length} rows`)
    },
  },
  {
    id: 'after-id-outside-the-filter',
    question: 'Is an after_id accepted that the filter does not list?',
    ask: async (study) => {
      const [one, other] = paidWalks(study).filter(({ row }) => row)
      if (!one?.row || !other?.row) return NOTHING_PAID
      const query = new URLSearchParams({
        limit: '10',
        reference_id: String(one.row['reference_id']),
        after_id: String(other.row['id']),
      })
      const answer = await study.interview.ask('an after_id of another row', {
        path: `/transactions?${query.toString()}`,
      })
      return verdict(isSuccess(answer), shown(answer))
    },
  },
]

const REFUND: OpenQuestion = {
  id: 'refund-row-names-payment',
  question: 'Does the row of a refund name the payment, its request or its reference?',
  ask: async (study) => {
    const { interview } = study
    const paid = paidWalks(study).find(({ name }) => name === 'DANA')
    if (!paid) return notAsked('DANA could not be paid in this run')
    const { payment_request_id, latest_payment_id, reference_id } = paid.request
    const reference = interview.newReference()
    const body = {
      payment_request_id,
      reference_id: reference,
      currency: 'IDR',
      amount: 1_000,
      reason: 'REQUESTED_BY_CUSTOMER',
    }
    const refund = await interview.ask('refund', { method: 'POST', path: '/refunds', body })
    if (!isSuccess(refund)) return notAsked(`the refund was refused: ${shown(refund)}`)
    const path = '/transactions?types=REFUND&limit=10'
    const [row] = rowsOf(await interview.ask('rows of refunds', { path }))
    if (!row) return notAsked('the row of the refund is not visible yet')
    const text = JSON.stringify(row)
    const named = [payment_request_id, latest_payment_id, reference_id].filter(
      (id) => typeof id === 'string' && text.includes(id),
    )
    return verdict(named.length > 0, `${named.length} of three ids are in the row`)
  },
}

/** Wallets settle after days. */
async function paymentRows({ interview }: Study) {
  const path = '/transactions?types=PAYMENT&limit=50'
  return rowsOf(await interview.ask('rows of payments', { path }))
}

type Fee = { readonly status: string; readonly fee: number; readonly tax: number }

function feeOf(row: Json): Fee {
  const { status, xendit_fee, value_added_tax } = Object(row['fee'])
  return { status: String(status), fee: Number(xendit_fee), tax: Number(value_added_tax) }
}

const FEES: readonly OpenQuestion[] = [
  {
    id: 'fee-while-pending',
    question: 'Does a row show its fee while the fee is PENDING?',
    ask: async (study) => {
      const pending = (await paymentRows(study))
        .map(feeOf)
        .filter(({ status }) => status === 'PENDING')
      if (pending.length === 0) return notAsked('no row has a pending fee')
      return verdict(
        pending.some(({ fee }) => fee > 0),
        `${pending.length} rows`,
      )
    },
  },
  {
    id: 'tax-rounded-down',
    question: 'Is the tax of 11 % on a fee rounded down?',
    ask: async (study) => {
      const fractions = (await paymentRows(study))
        .map(feeOf)
        .filter(({ status, fee }) => status === 'COMPLETED' && (fee * 11) % 100 !== 0)
      if (fractions.length === 0) return notAsked('no settled row has a tax with a fraction')
      return verdict(
        fractions.every(({ fee, tax }) => tax === Math.floor((fee * 11) / 100)),
        `${fractions.length} rows`,
      )
    },
  },
  {
    id: 'gopay-fee',
    question: 'Does a settled GOPAY row show a fee?',
    ask: async (study) => {
      const settled = (await paymentRows(study))
        .filter((row) => String(row['channel_code']).includes('GOPAY'))
        .map(feeOf)
        .filter(({ status }) => status === 'COMPLETED')
      if (settled.length === 0) return notAsked('no GOPAY row is settled: run it again in two days')
      return verdict(
        settled.some(({ fee }) => fee > 0),
        settled.map(({ fee }) => fee).join(', '),
      )
    },
  },
]

export const QUESTIONS_OF_NEWS: readonly OpenQuestion[] = [
  ...PAYING,
  ...CANCELS,
  ...LOOK_UPS,
  ...LISTS,
  REFUND,
  ...FEES,
]
