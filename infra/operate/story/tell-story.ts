import { styleText } from 'node:util'
import * as v from 'valibot'
import { timelineSteps } from '../../local/console/page/payments/timeline-steps.ts'
import { TimelineSchema } from '../../local/console/page/shapes.ts'
import { printableLine } from '../../local/terminal/printable.ts'
import { renderReply } from '../admin/render-reply.ts'

const STYLES = { good: 'green', bad: 'red', plain: 'reset' } as const
const TIME_WIDTH = '2026-11-27T00:00:00.000Z'.length

/**
 * The answer of get-payment as the console's steps, a line each. A payment in creation has none
 * yet, so its answer is shown.
 */
export function tellStory(body: unknown) {
  const told = v.safeParse(TimelineSchema, body)
  if (!told.success) return renderReply('get-payment', body)
  const { id, status } = told.output
  const lines = timelineSteps(told.output).map(({ at = '', tone, text, detail }) => {
    const time = styleText('dim', printableLine(at).padEnd(TIME_WIDTH))
    const shown = styleText(STYLES[tone], printableLine(text))
    return [time, shown, ...(detail ? [printableLine(detail)] : [])].join('  ')
  })
  return [printableLine(`payment ${id}: ${status}`), '', ...lines].join('\n')
}
