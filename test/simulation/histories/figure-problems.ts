import { booksOf, clientOf, kept, type RawItem, sum } from '../../support/books.ts'

type Figures = ReadonlyMap<string, number>

/** What every figure of a client's books must be, by its payments and settlements alone. */
const figuresOf = (items: readonly RawItem[], clientId: string): Figures => {
  const { payments, settlements, reversals } = booksOf(items)
  const own = settlements.filter((item) => item['client_id'] === clientId)
  const paid = payments.filter((item) => item['client_id'] === clientId && item['status'] === 'succeeded')
  const credited = sum(
    kept(
      paid,
      reversals.filter((item) => clientOf(item) === clientId),
    ),
    'net_minor',
  )
  const recredited = own.filter(({ recredited_at: at }) => at !== undefined)
  const redrawn = new Set(own.map(({ replaces }) => replaces))
  const waiting = recredited.filter(({ settlement_id: id }) => !redrawn.has(id))
  const settled = sum(
    own.filter(({ replaces }) => replaces === undefined),
    'net_minor',
  )
  return new Map([
    ['received', sum(paid, 'notional_minor')],
    ['provider_fees', sum(paid, 'provider_fee_minor')],
    ['markup', sum(paid, 'markup_minor')],
    ['credited', credited],
    ['pending', credited - settled],
    ['available', sum(waiting, 'net_minor') - sum(waiting, 'reversed_net_minor')],
    [
      'in_settlement',
      sum(
        own.filter(({ status, recredited_at: at }) => status !== 'manual_paid' && at === undefined),
        'net_minor',
      ),
    ],
    [
      'paid_out',
      sum(
        own.filter(({ status }) => status === 'manual_paid'),
        'net_minor',
      ),
    ],
    ['reversed_swept', sum(recredited, 'reversed_net_minor')],
  ])
}

/** The two equations that the figures shown must keep: what was received is credited, and what is credited is somewhere. */
const equationProblems = (who: string, shown: Figures): readonly string[] => {
  const of = (...names: readonly string[]) => names.reduce((total, name) => total + (shown.get(name) ?? Number.NaN), 0)
  const credited = of('received', 'reinstated', 'in_motion') - of('provider_fees', 'markup', 'reversed_before_sweep')
  const somewhere = of('pending', 'available', 'in_settlement', 'paid_out', 'reversed_swept')
  return [
    ...(credited === of('credited')
      ? []
      : [`${who}: what was received leaves ${credited}, credited are ${of('credited')}`]),
    ...(somewhere === of('credited') ? [] : [`${who}: ${somewhere} are somewhere, credited are ${of('credited')}`]),
  ]
}

/** What is wrong with the figures that get-books shows of one client, or of all, once everything rests. */
export const figureProblems = (
  items: readonly RawItem[],
  clientId: string | undefined,
  shown: Figures,
): readonly string[] => [
  ...equationProblems(clientId ?? 'all', shown),
  ...(clientId === undefined ? [] : [...figuresOf(items, clientId)])
    .filter(([name, expected]) => shown.get(name) !== expected)
    .map(([name, expected]) => `${clientId}: ${name} is shown as ${shown.get(name)}, is ${expected}`),
]
