import * as v from 'valibot'
import { PaymentIdSchema } from '../../../shared/ids.ts'
import { PROVIDER_HEADERS } from '../provider-simulator/simulator-keys.ts'
import {
  addressAt,
  readOptionsOf,
  runProgram,
  UsageError,
  wholeNumber,
} from '../terminal/command-line.ts'
import { printableLines } from '../terminal/printable.ts'
import { callGateway, exitCodeOf, GatewayRefusal } from './call-gateway.ts'

const WHOLE = ['voided', 'reversed']
const KINDS = [...WHOLE, 'refund', 'chargeback', 'chargeback_reversal']

const USAGE = `npm run pay -- PAYMENT_ID [--fail | --expire | --reverse KIND [--amount N]]

Acts as the customer at the provider simulator of the running gateway (npm start): pays the payment. Or instead:
  --fail           the customer fails to pay
  --expire         the time to pay ends now
  --reverse KIND   reverses paid money; KIND is ${KINDS.join(', ')}
  --amount N       the amount to reverse, in IDR. Default: the whole amount
  --help, -h       this text
PORT is the gateway's port (default 3000). npm run watch shows what happens next.
Exit code: 0 done, 1 refused or no gateway runs, 2 wrong arguments.`

const OPTIONS = {
  fail: { type: 'boolean' },
  expire: { type: 'boolean' },
  reverse: { type: 'string' },
  amount: { type: 'string' },
} as const

const Requests = v.array(v.object({ payment_request_id: v.string(), status: v.string() }))

type Action = {
  /** Without a control, the customer pays. */
  readonly control?: 'fail' | 'expire' | 'reverse'
  readonly body: object
  readonly done: string
  readonly statuses: readonly string[]
}

const OPEN_REQUEST = { body: {}, statuses: ['REQUIRES_ACTION', 'PENDING'] }

await runProgram(USAGE, run)

async function run(argv: readonly string[]) {
  const { values, argument } = readOptionsOf('id of a payment', argv, OPTIONS)
  const { success: isId, output: paymentId } = v.safeParse(PaymentIdSchema, argument)
  if (!isId) throw new UsageError(`${argument} is not the id of a payment`)
  const action = actionOf(values)
  const provider = addressAt(process.env['PORT'], 2)
  return exitCodeOf(async () => {
    const id = await requestOf(provider, paymentId, action)
    const init = { method: 'POST', headers: PROVIDER_HEADERS, body: JSON.stringify(action.body) }
    await callGateway(provider + pathOf(id, action), init)
    console.log(printableLines(`${action.done} (payment ${paymentId}, request ${id})`))
  })
}

function actionOf(options: {
  fail?: boolean
  expire?: boolean
  reverse?: string
  amount?: string
}): Action {
  const { fail, expire, reverse, amount } = options
  if ([fail, expire, reverse].filter((option) => option !== undefined).length > 1) {
    throw new UsageError('choose one of --fail, --expire and --reverse')
  }
  if (amount !== undefined && reverse === undefined)
    throw new UsageError('--amount needs --reverse')
  if (fail) return { ...OPEN_REQUEST, control: 'fail', done: 'The customer failed to pay.' }
  if (expire) return { ...OPEN_REQUEST, control: 'expire', done: 'The time to pay is over.' }
  if (reverse === undefined) return { ...OPEN_REQUEST, done: 'The customer paid.' }
  const minor = amount === undefined ? undefined : wholeNumber(amount)
  if (!KINDS.includes(reverse)) throw new UsageError(`--reverse takes ${KINDS.join(', ')}`)
  if (amount !== undefined && (minor === undefined || minor <= 0))
    throw new UsageError('--amount must be a whole number above 0')
  if (amount !== undefined && WHOLE.includes(reverse))
    throw new UsageError(`--reverse ${reverse} takes the whole amount, without --amount`)
  const body = { kind: reverse, ...(minor !== undefined && { amount: minor }) }
  return {
    control: 'reverse',
    body,
    statuses: ['SUCCEEDED'],
    done: `The payment was reversed: ${reverse}.`,
  }
}

/**
 * Retries of a create may make several requests. Prefers the newest request in one of the statuses.
 */
async function requestOf(provider: string, paymentId: string, { statuses }: Action) {
  const query = `reference_id=${encodeURIComponent(paymentId)}`
  const requests = v.parse(
    Requests,
    await callGateway(`${provider}/_simulator/payment_requests?${query}`),
  )
  const request = requests.findLast(({ status }) => statuses.includes(status)) ?? requests.at(-1)
  if (!request) throw new GatewayRefusal(`the provider has no payment ${paymentId}; check the id`)
  return request.payment_request_id
}

function pathOf(id: string, { control }: Action) {
  return control === undefined
    ? `/v3/payment_requests/${encodeURIComponent(id)}/simulate`
    : `/_simulator/payment_requests/${encodeURIComponent(id)}/${control}`
}
