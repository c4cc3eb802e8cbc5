import { type AlarmSpec, headingOf, severityOf, thresholdOf } from '../infra/stack/monitoring/alarms/alarm-spec.ts'
import { alarmTable } from '../infra/stack/monitoring/alarms/alarm-table.ts'
import type { Watched } from '../infra/stack/monitoring/alarms/watched.ts'

const several = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`
const span = (minutes: number) => (minutes % 60 === 0 ? several(minutes / 60, 'hour') : several(minutes, 'minute'))

/** What must be seen in each period. */
const seenIn = (spec: AlarmSpec): string => {
  const { when, unit } = spec
  const threshold = thresholdOf(spec)
  if (unit === 'milliseconds') return `above ${several(threshold / 60_000, 'minute')} late`
  if ('below' in when) return threshold === 1 ? `no ${unit}` : `below ${threshold} ${unit}`
  if ('atLeast' in when) return `${threshold} or more ${unit}`
  return threshold === 0 ? `any ${unit}` : `above ${threshold.toLocaleString('en')} ${unit}`
}

/** When an alarm goes off, in words. */
const conditionOf = (spec: AlarmSpec): string => {
  const { minutes, periods, outOf = periods } = spec.when
  const often = outOf === periods ? `${periods} times in a row` : `${periods} of ${outOf} times`
  return `${seenIn(spec)} in ${span(minutes)}${outOf === 1 ? '' : `, ${often}`}`
}

const isCommand = (text: string) => /^(npm|aws|ask) /.test(text)
const isQuery = (text: string) => text.startsWith('filter ')

/** Sentences, queries and commands as markdown; commands that follow each other are one block. */
const blocks = (texts: readonly string[]): string =>
  texts
    .reduce<readonly string[]>((before, text) => {
      const last = before.at(-1)
      if (isQuery(text)) return [...before, `\`\`\`logs\n${text}\n\`\`\``]
      if (!isCommand(text)) return [...before, text]
      return last?.startsWith('```sh')
        ? [...before.slice(0, -1), last.replace(/```$/, `${text}\n\`\`\``)]
        : [...before, `\`\`\`sh\n${text}\n\`\`\``]
    }, [])
    .join('\n\n')

const entry = (heading: string, specs: readonly AlarmSpec[]): string => {
  const [first] = specs
  const means = specs.map(
    (spec) =>
      `- \`${spec.id}\`, ${severityOf(spec)}: ${conditionOf(spec)}. ${spec.summary} Who suffers: ${spec.impact} ${spec.because}`,
  )
  return `## ${heading}

${means.join('\n')}

**Look** ${blocks(first?.look ?? [])}

**Do** ${blocks(first?.act ?? [])}`.replaceAll(/ (```)/g, '\n$1')
}

/** The entries of docs/runbook.md as markdown, from the table that makes the alarms. */
export const runbookEntries = (watched: Watched): string =>
  alarmTable(watched)
    .map(({ heading, alarms }) => {
      const entries = Map.groupBy(alarms, headingOf)
      return [`# ${heading}`, ...[...entries].map(([id, specs]) => entry(id, specs))].join('\n\n')
    })
    .join('\n\n')
