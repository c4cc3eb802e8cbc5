import type { AlarmSpec } from './alarm-spec.ts'
import { type Formula, OVERALL, sumOf } from './metric-ref.ts'
import type { Watched } from './watched.ts'

/** Of every function that works on messages. */
export const failedMessages = ({ our, functions }: Watched): Formula =>
  sumOf(
    functions
      .filter(({ spec }) => spec.trigger.kind === 'queue')
      .map(({ functionName }) => our('FailedMessages', { function: functionName }, 'Sum')),
  )

/** Work that was begun and not finished, wherever it happened. */
export const writeAlarms = (watched: Watched): readonly AlarmSpec[] => [
  {
    id: 'conflicts-lost',
    severity: 'ticket',
    summary: 'Writes gave up because other transactions kept holding the same items.',
    impact: 'merchants with very many payments at once: a request of theirs answers 500 and is safe to retry.',
    measure: watched.our('ConflictsLost', OVERALL, 'Sum'),
    when: { atLeast: 3, minutes: 5, periods: 1 },
    because: 'A write is tried twelve times over seconds first. One client’s ledger bears about 250 payments a second.',
  },
  {
    id: 'alerts-failing',
    severity: 'page',
    summary: 'The alert topic cannot be reached.',
    impact: 'operators: whatever happens now, they may not hear of it.',
    measure: watched.our('AlertFailures', OVERALL, 'Sum'),
    when: { atLeast: 3, minutes: 5, periods: 2 },
    because: 'Due work publishes again each minute, so one failure heals itself and three in five minutes do not.',
  },
  {
    id: 'messages-failing',
    severity: 'ticket',
    summary: 'Workers cannot finish messages and meet them again.',
    impact: 'the merchants of those messages: announcements and settlements are late.',
    measure: failedMessages(watched),
    when: { atLeast: 5, minutes: 5, periods: 3, outOf: 4 },
    because: 'A message is tried for a while before it is set aside; failures in three periods of four are no hiccup.',
  },
]
