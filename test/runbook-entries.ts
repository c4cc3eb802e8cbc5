import {
  type AlarmSpec,
  headingOf,
  severityOf,
  thresholdOf,
} from '../infra/stack/monitoring/alarms/alarm-spec.ts'
import { alarmTable } from '../infra/stack/monitoring/alarms/alarm-table.ts'
import { frontAlarms, type WatchedFront } from '../infra/stack/monitoring/alarms/front-alarms.ts'
import type { Watched } from '../infra/stack/monitoring/watched-stack.ts'

export function runbookEntries(watched: Watched, front: WatchedFront, runbook: string) {
  return [...alarmTable(watched), ...frontAlarms(front)]
    .map(({ heading, alarms }) => {
      const entries = Map.groupBy(alarms, headingOf)
      return [
        `# ${heading}`,
        ...[...entries].map(([id, specs]) => runbookEntry(id, specs, runbook)),
      ].join('\n\n')
    })
    .join('\n\n')
}

/**
 * An alarm omits the sentences that it shares with the alarm above it. The mail, whose link leads
 * to the entry, says who suffers.
 */
function runbookEntry(heading: string, specs: readonly AlarmSpec[], runbook: string) {
  const means = specs.map((spec, at) => {
    const said = sentencesOf(spec).difference(sentencesOf(specs[at - 1]))
    return [`- \`${spec.id}\`:`, ...said].join(' ')
  })
  return `## ${heading}\n\n${means.join('\n')}\n\n${writtenUnder(heading, runbook)}`
}

function sentencesOf(spec?: AlarmSpec) {
  if (spec === undefined) return new Set()
  const sentences = `${spec.summary} ${spec.because}`.split(/(?<=\.) (?=[A-Z])/)
  return new Set([`${severityOf(spec)}, ${conditionOf(spec)}.`, ...sentences])
}

function conditionOf(spec: AlarmSpec) {
  const { minutes, periods, outOf = periods } = spec.when
  const often = outOf === periods ? `${periods} times in a row` : `${periods} of ${outOf} times`
  return `${seenIn(spec)} in ${span(minutes)}${outOf === 1 ? '' : `, ${often}`}`
}

function seenIn(spec: AlarmSpec) {
  const { when, unit } = spec
  const threshold = thresholdOf(spec)
  if (unit === 'milliseconds') return `above ${several(threshold / 60_000, 'minute')} late`
  if ('below' in when) return threshold === 1 ? `no ${unit}` : `below ${threshold} ${unit}`
  if ('atLeast' in when) return `${threshold} or more ${unit}`
  return threshold === 0 ? `any ${unit}` : `above ${threshold.toLocaleString('en')} ${unit}`
}

function several(count: number, unit: string) {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

function span(minutes: number) {
  return minutes % 60 === 0 ? several(minutes / 60, 'hour') : several(minutes, 'minute')
}

function writtenUnder(heading: string, runbook: string) {
  const [, after = ''] = runbook.split(`\n## ${heading}\n`)
  const [entry = ''] = after.split(/\n#{1,2} |\n<!-- /)
  return (
    entry
      .trim()
      .replace(/^(?:- .*\n)+/, '')
      .trim() || '**Look**\n\n**Do**'
  )
}
