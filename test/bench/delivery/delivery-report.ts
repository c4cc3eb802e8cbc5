import { markdownTable } from '../report/markdown-table.ts'
import { measuredOn } from '../report/measured-on.ts'
import type { SuiteReport } from '../suites.ts'
import { type DeliveryFigures, measureDelivery, median } from './measure-delivery.ts'

/** The last commit before deliveries were made leaner. */
const BEFORE = 'ffc21285725cb3798a1c36309ceb64b13b7b4929'
const LIMIT = 0.5

const shown = (value: number): string => value.toFixed(2)

const deliveryTable = ({ now, before, bare }: DeliveryFigures): SuiteReport => {
  const ratio = (values: readonly number[]) =>
    median(values.map((value, round) => value / (before[round] ?? Number.NaN)))
  const row = (name: string, values: readonly number[]) => [
    name,
    shown(median(values)),
    shown(Math.min(...values)),
    shown(Math.max(...values)),
    shown(ratio(values)),
  ]
  const rows = [
    row('this tree', now),
    row(`\`${BEFORE.slice(0, 7)}\``, before),
    row('the SDK’s document client as it comes: the requests to the table alone', bare),
  ]
  const failures =
    ratio(now) > LIMIT ? [`one more delivery costs ${shown(ratio(now))} of what it did, ${LIMIT} is the most`] : []
  return {
    text: markdownTable(['One more delivery', 'CPU ms, median', 'least', 'most', 'of before, median'], rows),
    failures,
  }
}

/** CPU of one more delivery of a fan-out, beside the commit before, in one run. */
export const deliveryReport = async (): Promise<SuiteReport> => {
  const { text, failures = [] } = deliveryTable(await measureDelivery(BEFORE))
  return { text: `${measuredOn('npm run bench -- delivery')}\n\n${text}`, failures }
}
