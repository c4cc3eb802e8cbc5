import { type Books, type RawItem, text } from './books.ts'

/**
 * The bank pays every line of a batch's file, unless the batch was cancelled. So no settlement is
 * in two such batches, and a settlement names the batch whose file has it.
 */
export function batchProblems({ batches, settlements }: Books) {
  const byId = new Map(settlements.map((one) => [text(one, 'settlement_id'), one]))
  const holders = new Map<string, string>()
  const live = batches.filter(({ state }) => state === 'ready')
  return [
    ...numberProblems(batches),
    ...live.flatMap((batch) =>
      idsIn(batch).flatMap((id) => {
        const number = text(batch, 'number')
        const other = holders.get(id)
        holders.set(id, number)
        const isTwice = other !== undefined
        const named = byId.get(id)?.['batch']
        return [
          ...(isTwice
            ? [`settlement ${id} is in the files of the batches ${other}, ${number}`]
            : []),
          ...(String(named) === number
            ? []
            : [`settlement ${id} of batch ${number} names ${String(named)}`]),
        ]
      }),
    ),
  ]
}

function numberProblems(batches: readonly RawItem[]) {
  const numbers = batches.map(({ number }) => Number(number)).toSorted((a, b) => a - b)
  const isWhole = numbers.every((number, at) => number === at + 1)
  return isWhole ? [] : [`the numbers of batches are ${numbers.join(', ')}`]
}

function idsIn({ settlement_ids: ids }: RawItem) {
  return Array.isArray(ids) ? ids.map(String) : []
}

/** Each settlement has the event of its record and of its end, with its figures, and no other. */
export function settlementEventProblems({ settlements, events }: Books) {
  const bySettlement = Map.groupBy(events, ({ pk }) => String(pk))
  return settlements.flatMap((settlement) => {
    const id = text(settlement, 'settlement_id')
    const own = bySettlement.get(`EVENT#settlement#${id}`) ?? []
    const end = END_OF_STATUS[text(settlement, 'status')]
    const expected = ['settlement.recorded', ...(end === undefined ? [] : [end])].toSorted()
    const names = own.map((event) => text(event, 'sk')).toSorted()
    const isSame = own.every((event) => {
      const { data } = JSON.parse(text(event, 'body'))
      const [net, owner] = [settlement['net_minor'], settlement['client_id']]
      return data.id === id && data.net_minor === net && event['owner'] === owner
    })
    const problem = `settlement ${id} has the events ${names.join()}`
    return names.join() === expected.join() && isSame ? [] : [problem]
  })
}

const END_OF_STATUS: Readonly<Record<string, string>> = {
  manual_paid: 'settlement.paid',
  failed: 'settlement.failed',
}
