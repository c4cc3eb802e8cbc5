import { type Timestamp, timestampOf } from '../../../../shared/time.ts'
import type { LocalLog } from '../../functions/local-log.ts'
import type { LocalClock } from '../../process/local-clock.ts'
import type { StoryLine } from './story-line.ts'
import { tellLogLine } from './tell-log-line.ts'

export type StorySources = {
  readonly clock: Pick<LocalClock, 'nowMs' | 'onJump'>
  readonly log: Pick<LocalLog, 'lines' | 'onLine'>
}

const KEPT_LINES = 1_000

/**
 * Tells the activity of this gateway in words, from its log. It reads no line before the first listener comes. It then
 * starts with the oldest line that the log keeps.
 */
export const startStory = ({ clock, log }: StorySources) => {
  const lines: StoryLine[] = []
  const listeners = new Set<(line: StoryLine) => void>()
  const ends: (() => void)[] = []

  const tell = (line: StoryLine | undefined) => {
    if (line === undefined) return
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
    for (const listener of listeners) listener(line)
  }

  const begin = () => {
    for (const line of log.lines()) tell(tellLogLine(line))
    ends.push(log.onLine((line) => tell(tellLogLine(line))))
    ends.push(clock.onJump(() => tell(jumpedTo(timestampOf(clock.nowMs())))))
  }

  return {
    /** Calls `listener` with the latest lines, then with every new one. Returns a function that removes it. */
    follow: (listener: (line: StoryLine) => void) => {
      if (ends.length === 0) begin()
      for (const line of lines) listener(line)
      listeners.add(listener)
      return (): void => void listeners.delete(listener)
    },
    close: (): void => {
      for (const end of ends) end()
    },
  }
}

export type Story = ReturnType<typeof startStory>

const jumpedTo = (at: Timestamp): StoryLine => ({ at, subject: 'clock', tone: 'plain', text: `jumped to ${at}` })
