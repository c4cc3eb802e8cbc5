import * as v from 'valibot'
import { auditLedger } from '../../shared/audit/audit-client.ts'
import { auditWholeGateway } from '../../shared/audit/audit-gateway.ts'
import { bookDay } from '../../shared/journal/day-totals.ts'
import { fromItem } from '../../shared/table/attributes.ts'
import { addMs, DAY_MS, HOUR_MS } from '../../shared/time.ts'
import { invokeAdmin } from '../support/operator-actions.ts'
import { type Play } from './play.ts'
import { ACCOUNTS, type Sums } from './sums-by-state.ts'

export function entryDifferences({ deps, model }: Play) {
  const stored = deps.stored
    .items()
    .map((item) => fromItem(item))
    .filter(({ pk }) => String(pk).startsWith('JOURNAL#'))
    .map((item) => {
      const legs = ACCOUNTS.map((name) => Number(item[`${name}Minor`] ?? 0))
      const owner = String(item['pk']).split('#')[1] ?? ''
      return lineOf(owner, String(item['type']), legs)
    })
  const modelled = model.entries
    .filter(({ type }) => type !== 'payout')
    .map(({ owner, type, sums }) =>
      lineOf(
        owner,
        type,
        ACCOUNTS.map((name) => sums[name]),
      ),
    )
  return [...surplus(stored, modelled, 'stored'), ...surplus(modelled, stored, 'in the model')]
}

function lineOf(owner: string, type: string, legs: readonly number[]) {
  return `${owner} ${type} ${legs.map((leg) => leg + 0).join(' ')}`
}

function surplus(of: readonly string[], others: readonly string[], where: string) {
  const left = [...others]
  return of.flatMap((line) => {
    const at = left.indexOf(line)
    if (at === -1) return [`only ${where}: ${line}`]
    left.splice(at, 1)
    return []
  })
}

/** By the names of the books. */
const NAMES = {
  provider: 'at_provider',
  bank: 'at_bank',
  transit: 'transit',
  suspense: 'in_suspense',
  net: 'clients',
  markup: 'markup',
  cost: 'cost',
  other: 'other',
} satisfies Record<keyof Sums, string>

export const Books = v.object({
  figures: v.array(v.object({ name: v.string(), amount_minor: v.number() })),
  balanced: v.boolean(),
})

export async function bookDifferences({ prng, deps, model, clients, contradicted }: Play) {
  const today = bookDay(deps.now())
  const from = bookDay(addMs(deps.now(), -prng.int(0, 30) * DAY_MS))
  const to = [bookDay(addMs(deps.now(), -prng.int(0, 10) * DAY_MS)), today, today][prng.int(0, 2)]
  const client = prng.chance(1 / 2) ? prng.pick(clients) : undefined
  const days = { from: to !== undefined && to < from ? to : from, to: to ?? today }
  const input = { ...days, ...(client && { client_id: client.clientId }) }
  const { status, body } = await invokeAdmin('get-books', deps, input)
  if (status !== 200) return [`get-books answers ${status} ${JSON.stringify(body)}`]
  const { figures, balanced } = v.parse(Books, body)
  const shown = new Map(figures.map(({ name, amount_minor }) => [name, amount_minor]))
  const upTo = (isIn: (day: string) => boolean, account: keyof Sums) =>
    model.entries
      .filter(({ owner, at }) => isIn(dayOf(at)) && (client?.clientId ?? owner) === owner)
      .reduce((sum, { sums }) => sum + sums[account], 0)
  const differences = ACCOUNTS.flatMap((account) => {
    const name = NAMES[account]
    const closing = account === 'markup' ? 'closing.markup' : name
    return [
      [`opening.${name}`, upTo((day) => day < days.from, account)] as const,
      [closing, upTo((day) => day <= days.to, account)] as const,
    ].flatMap(([figure, expected]) =>
      shown.get(figure) === expected + 0
        ? []
        : [`${figure} ${days.from} to ${days.to}: ${shown.get(figure)}, not ${expected}`],
    )
  })
  const open = model.openNet(client?.clientId)
  if (shown.get('open') !== open + 0) differences.push(`open: ${shown.get('open')}, not ${open}`)
  const isContradicted = client ? contradicted.has(client.clientId) : contradicted.size > 0
  if (balanced === isContradicted) differences.push(`balanced: ${JSON.stringify(body)}`)
  return differences
}

function dayOf(at: number) {
  return new Date(at + 7 * HOUR_MS).toISOString().slice(0, 10)
}

export async function audits({ deps, clients }: Play) {
  const answers = [await auditWholeGateway(deps)]
  for (const { clientId } of clients) answers.push(await auditLedger(deps, clientId))
  return answers.flatMap((answer) =>
    answer.balanced === true ? [] : [`an audit says ${JSON.stringify(answer)}`],
  )
}
